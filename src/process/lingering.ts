// Background processes that outlive the operation that started them and still hold its pipes. They are left alone: their
// output is read and thrown away so that they neither block nor get SIGPIPE, and they do not keep the daemon alive.

import type { Child } from './launcher.ts';

/** Two descriptors each. One more, and the pipes of the oldest are closed: its next write fails. */
const MAX_LINGERING_CHILDREN = 256;

export interface LingeringChildren {
  /** Takes over the pipes of a child whose operation is settled. */
  add(child: Child): void;
}

export function createLingeringChildren(): LingeringChildren {
  const children = new Set<Child>();
  return {
    add(child) {
      const [oldest] = children;
      if (oldest !== undefined && children.size >= MAX_LINGERING_CHILDREN) {
        oldest.closePipes();
        children.delete(oldest);
      }
      children.add(child);
      child.discardOutput(() => children.delete(child));
    },
  };
}
