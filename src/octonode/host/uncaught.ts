// What the file throws outside of every call: in a timer, in an event, in a promise that nobody awaits. Without this the
// process would end by burrow's own last resort, which calls every such throw a fault of burrow.

/**
 * From now on, for the life of this process: `onUncaught` gets what was thrown or rejected and not caught. A file that
 * listens to `uncaughtException` or `unhandledRejection` itself has caught it: then nothing is told.
 */
export function watchUncaught(onUncaught: (error: unknown) => void): void {
  process.removeAllListeners('uncaughtException');
  process.on('uncaughtException', (error) => {
    if (process.listenerCount('uncaughtException') === 1) onUncaught(error);
  });
  process.on('unhandledRejection', (reason) => {
    if (process.listenerCount('unhandledRejection') === 1) onUncaught(reason);
  });
}
