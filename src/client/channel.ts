// How a client reaches a gateway: lines out, lines in, and an end. Each kind (in this process, a child process,
// a socket) is one function that makes a channel; the client knows none of them.

export interface ChannelEvents {
  /** One frame, without its newline. */
  onFrame(frame: Buffer): void;
  /** Called once, when no frame can come any more. */
  onClosed(reason: string): void;
}

export interface Channel {
  /** `line` ends in a newline. Ignored after the channel closed. */
  send(line: string): void;
  /** Stops taking frames, so that the gateway holds its children back; `resume` goes on. */
  pause(): void;
  resume(): void;
  /** Tells the gateway that no request follows and resolves when the channel is closed. */
  close(): Promise<void>;
}

export type OpenChannel = (events: ChannelEvents) => Channel;
