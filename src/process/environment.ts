// The environment of a child: the host's, less what is private to the daemon, plus what the request adds. Never hands on a
// credential or a start-up switch of the daemon by itself; what the request names goes in, whatever its name.

/** Configuration and credentials of the daemon. */
const PRIVATE_PREFIXES = ['BURROW_GATEWAY_', 'LISTEN_', 'WATCHDOG_'];

const PRIVATE_NAMES: ReadonlySet<string> = new Set([
  // systemd.exec(5), sd_notify(3): what a service manager tells one process about itself.
  'NOTIFY_SOCKET',
  'INVOCATION_ID',
  'JOURNAL_STREAM',
  'MAINPID',
  'MANAGERPID',
  'SYSTEMD_EXEC_PID',
  'CREDENTIALS_DIRECTORY',
  // Read by the start-up code that @yao-pkg/pkg puts into the binary; another binary of that kind would obey them.
  'PKG_CACHE_PATH',
  'PKG_DUMMY_ENTRYPOINT',
  'PKG_EXECPATH',
  'PKG_INVOKE_NODEJS',
  'PKG_NATIVE_CACHE_BASE',
  'PKG_NATIVE_CACHE_PATH',
  'PKG_STRICT_VER',
]);

/** Collector credentials: OTEL_EXPORTER_OTLP_HEADERS and its variants for one signal. */
const PRIVATE_PATTERN = /^OTEL_EXPORTER_OTLP(?:_[A-Z]+)*_HEADERS$/;

export type EnvironmentEntry = readonly [name: string, value: string];

/** The whole environment of a child; of entries with the same name the last wins. Without a prototype, so any name is safe. */
export type ChildEnvironment = (additions: readonly EnvironmentEntry[]) => Readonly<Record<string, string>>;

/** Filters `base` once: an operation pays for its own additions only. */
export function createChildEnvironment(base: Readonly<Record<string, string | undefined>>): ChildEnvironment {
  const shared: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(base)) {
    if (value !== undefined && !isPrivate(name)) shared[name] = value;
  }
  return (additions) => {
    if (additions.length === 0) return shared;
    const env: Record<string, string> = Object.assign(Object.create(null), shared);
    for (const [name, value] of additions) env[name] = value;
    return env;
  };
}

function isPrivate(name: string): boolean {
  if (PRIVATE_NAMES.has(name) || PRIVATE_PATTERN.test(name)) return true;
  return PRIVATE_PREFIXES.some((prefix) => name.startsWith(prefix));
}
