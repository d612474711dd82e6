// A real OTLP/HTTP receiver on loopback: keeps what arrives and decodes it by the published schema, with protobufjs.
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import protobuf from 'protobufjs';
import { onTestFinished } from 'vitest';

export const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
export const PARENT_ID = 'b7ad6b7169203331';
export const SAMPLED = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-01` };
export const UNSAMPLED = { traceparent: `00-${TRACE_ID}-${PARENT_ID}-00` };

const schema = protobuf.loadSync(new URL('../fixtures/otlp/trace.proto', import.meta.url).pathname);
const request = schema.lookupType('opentelemetry.proto.ExportTraceServiceRequest');

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string;
  traceState?: string;
  name: string;
  kind: string;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  status: { code?: string; message?: string };
  flags: number;
  resource: Record<string, unknown>;
  events: unknown[];
  links: unknown[];
}

export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

export interface Collector {
  /** The base endpoint, without a path. */
  url: string;
  requests: ReceivedRequest[];
  spans(): ReceivedSpan[];
  /** How it answers from now on. */
  behave(answer: Answer): void;
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void;

export const takes: Answer = (response) => response.writeHead(200).end();

/** Closed with the test. */
export async function startCollector(answer: Answer = takes): Promise<Collector> {
  let current = answer;
  const requests: ReceivedRequest[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const received = {
        path: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks),
      };
      requests.push(received);
      current(response, received);
    });
  });
  server.on('connection', (socket) => sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    spans: () => requests.flatMap(({ body }) => decodeSpans(body)),
    behave(next) {
      current = next;
    },
  };
}

function decodeSpans(body: Buffer): ReceivedSpan[] {
  const options = { enums: String, longs: Number, bytes: String, arrays: true };
  // Shaped by the schema above.
  // biome-ignore lint/suspicious/noExplicitAny: protobufjs decodes to plain objects of the schema
  const decoded = request.toObject(request.decode(body), options) as any;
  // biome-ignore lint/suspicious/noExplicitAny: as above
  return decoded.resourceSpans.flatMap(({ resource, scopeSpans }: any) =>
    // biome-ignore lint/suspicious/noExplicitAny: as above
    scopeSpans.flatMap(({ spans }: any) =>
      // biome-ignore lint/suspicious/noExplicitAny: as above
      spans.map((span: any) => ({
        ...span,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentSpanId: hex(span.parentSpanId),
        startMs: span.startTimeUnixNano / 1e6,
        endMs: span.endTimeUnixNano / 1e6,
        attributes: toRecord(span.attributes),
        resource: toRecord(resource.attributes),
      })),
    ),
  );
}

function hex(base64: string): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function toRecord(entries: { key: string; value: { stringValue?: string } }[]): Record<string, unknown> {
  return Object.fromEntries(entries.map(({ key, value }) => [key, value.stringValue ?? value]));
}
