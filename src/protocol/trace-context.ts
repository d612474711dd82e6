// W3C Trace Context (https://www.w3.org/TR/trace-context/), version 00: checked, then handed on as it came.

import * as v from 'valibot';
import { MAX_TRACESTATE_CHARACTERS, MAX_TRACESTATE_MEMBERS } from './defaults.ts';

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;
/** Sections 3.3.1.3.1 and 3.3.1.3.2: `key=value`, the key perhaps `tenant@system`. */
const TRACESTATE_MEMBER =
  /^(?:[a-z][a-z0-9_*/-]{0,255}|[a-z0-9][a-z0-9_*/-]{0,240}@[a-z][a-z0-9_*/-]{0,13})=[ -+\--<>-~]{0,255}[!-+\--<>-~]$/;

export interface TraceContext {
  traceparent: string;
  tracestate?: string;
}

/** Unknown fields are ignored; an empty or null tracestate is absent. */
export const TraceContextSchema = v.object(
  {
    traceparent: v.pipe(
      v.string('Expected a string'),
      v.regex(TRACEPARENT, 'Expected a version-00 traceparent in lower-case hex with ids that are not zero'),
    ),
    tracestate: v.nullish(
      v.pipe(
        v.string('Expected a string'),
        v.maxLength(MAX_TRACESTATE_CHARACTERS, `Expected at most ${MAX_TRACESTATE_CHARACTERS} characters`),
        v.check(isTracestate, `Expected at most ${MAX_TRACESTATE_MEMBERS} different key=value members`),
      ),
    ),
  },
  'Expected an object with traceparent',
);

export function toTraceContext(input: v.InferOutput<typeof TraceContextSchema>): TraceContext {
  const { traceparent, tracestate } = input;
  return tracestate === undefined || tracestate === null || tracestate === ''
    ? { traceparent }
    : { traceparent, tracestate };
}

function isTracestate(text: string): boolean {
  // Empty members are allowed and blanks around members are no part of them (section 3.3.1.3).
  const members = text
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  const isValid = members.every((member) => TRACESTATE_MEMBER.test(member));
  return isValid && keys.size === members.length && members.length <= MAX_TRACESTATE_MEMBERS;
}
