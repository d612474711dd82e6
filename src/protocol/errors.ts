// Every error code of the gateway, once: spelled as on the wire, with what it means and the way out.
// docs/errors.md is written from this table. Retired codes stay listed and are never reused with a new meaning.

/** Where a code can appear. `envelope` codes travel as `type:"error"`, all others as `type:"response"`. */
export type ErrorArea =
  | 'envelope'
  | 'request'
  | 'operation'
  | 'transport'
  | 'controller'
  | 'filesystem'
  | 'local';

export interface ErrorRow {
  area: ErrorArea;
  /** One sentence for docs/errors.md. */
  meaning: string;
  /** The default human sentence on the wire; callers may pass a more exact one. No final stop. */
  message: string;
  /** Whether the same request can succeed later without being changed. */
  retryable: boolean;
  /** Exit status of the command line when a command ends with this code. */
  exitStatus: 1 | 2 | 124 | 125 | 126 | 127;
  /** What the reader can do next. */
  remedy: string;
}

// biome-ignore format: one row, one line
const table = {
  invalid_json: row('envelope', 'The line is not JSON', 'Line is not valid JSON', 125, 'Send one JSON object per line, ended by a newline'),
  invalid_message: row('envelope', 'The line is JSON but not a request envelope', 'Line is not a request envelope', 125, 'Send {"id", "method", "params"} with a scalar id, a string method and an object of params'),
  unknown_method: row('envelope', 'The method does not exist', 'Method is not known', 125, 'Use one of the methods in docs/protocol.md'),
  frame_too_large: row('envelope', 'The line is longer than the frame limit', 'Line is over the frame limit of 2097152 bytes', 125, 'Send less in one request; the rest of the line was skipped'),
  protected_delivery_binding_invalid: row('envelope', 'Protected values came without a valid binding to this connection, request and operation', 'Protected values are not bound to this connection', 125, 'Deliver protected values only over an authenticated connection, with its binding'),

  invalid_params: row('request', 'A parameter has the wrong type or value', 'Parameters are not valid', 2, 'Correct the parameters named in issues'),
  command_invalid: row('request', 'command is not usable text', 'Parameter "command" is not valid', 2, 'Give command as a string without zero bytes'),
  executable_invalid: row('request', 'executable is not usable text', 'Parameter "executable" is not valid', 2, 'Give executable as a string without zero bytes'),
  args_invalid: row('request', 'args is not an array of usable strings', 'Parameter "args" is not valid', 2, 'Give args as an array of strings without zero bytes'),
  command_and_executable_mutually_exclusive: row('request', 'Both execution forms were given', 'Parameters "command" and "executable" are both given', 2, 'Choose command (a shell string) or executable with args'),
  command_or_executable_required: row('request', 'No execution form was given', 'Neither "command" nor "executable" is given', 2, 'Give command (a shell string) or executable with args'),
  args_with_command_invalid: row('request', 'args were given beside a shell command', 'Parameter "args" is given beside "command"', 2, 'Put the arguments into command, or use executable with args'),
  env_invalid: row('request', 'env is not a map of usable names to scalar values', 'Parameter "env" is not valid', 2, 'Use names that are not empty and hold no "=" or zero byte, and string values without zero bytes'),
  cwd_invalid: row('request', 'cwd is not a directory that can be entered', 'Parameter "cwd" is not a usable directory', 125, 'Give the path of an existing directory that the gateway may enter'),
  trace_context_invalid: row('request', 'traceContext is not W3C version 00', 'Parameter "traceContext" is not valid', 2, 'Send a version-00 traceparent and an optional tracestate'),
  telemetry_config_invalid: row('request', 'The telemetry configuration is not valid', 'Telemetry configuration is not valid', 2, 'Send enabled, an http(s) endpoint without credentials, and valid header names and values'),
  stopping: row('request', 'The daemon is stopping and takes no new work', 'Gateway is stopping and takes no new work', 125, 'Retry the same operation id once the gateway is back', true),
  too_many_operations: row('request', 'The limit of operations that run at once is reached', 'Too many operations are running', 125, 'Retry when running operations have ended', true),

  operation_id_conflict: row('operation', 'The operation id was used with another request', 'Operation id is already used by a different request', 125, 'Use a new operation id for a different request'),
  operation_in_progress: row('operation', 'The same operation is still running', 'Operation is still running', 125, 'Wait for its end, then send the same request again to read its outcome', true),
  protected_redelivery_forbidden: row('operation', 'A completed operation was sent again with protected values', 'Operation is complete; protected values are not taken again', 125, 'Ask for the outcome again without protected values'),
  output_frame_too_large: row('operation', 'The outcome does not fit into one frame and cannot be shortened', 'Outcome does not fit into one frame', 125, 'Ask for less: fewer entries, or shorter arguments'),
  spawn_failed: row('operation', 'The operating system refused to start the process', 'Cannot start the process', 126, 'Look at errno and at what was looked for'),

  unauthenticated: row('transport', 'A request came before authentication', 'Connection is not authenticated', 125, 'Authenticate first'),
  invalid_auth_message: row('transport', 'An authentication message is malformed', 'Authentication message is not valid', 125, 'Compare the versions of both ends'),
  unexpected_auth_message: row('transport', 'An authentication message came out of order', 'Authentication message is out of order', 125, 'Compare the versions of both ends'),
  unknown_gateway: row('transport', 'The controller does not know this gateway', 'Gateway is not known to the controller', 125, 'Enroll or pair the gateway'),
  unknown_node: row('transport', 'The controller does not know this node identity', 'Node identity is not known to the controller', 125, 'Pair the gateway again'),
  auth_failed: row('transport', 'The proof of identity is wrong', 'Authentication failed', 125, 'Enroll or pair the gateway again'),
  identity_mismatch: row('transport', 'The identity is not the one on record', 'Identity does not match the record', 125, 'Find out who answers, then pair again'),
  controller_identity_mismatch: row('transport', 'The controller key is not the pinned one', 'Controller key does not match the pinned key', 125, 'Find out who answers; unpair only when the change is expected'),
  controller_identity_missing: row('transport', 'The controller sent no key although one is pinned', 'Controller sent no identity key', 125, 'Find out who answers; unpair only when the change is expected'),
  controller_tls_identity_mismatch: row('transport', 'The controller certificate is not the pinned one', 'Controller certificate does not match the pinned fingerprint', 125, 'Find out who answers; unpair only when the change is expected'),
  gateway_already_connected: row('transport', 'A gateway with this id is connected', 'Gateway is already connected', 125, 'Stop the other gateway, or give this one an id of its own', true),
  gateway_identity_conflict: row('transport', 'Another identity holds this gateway id', 'Gateway id belongs to another identity', 125, 'Give this gateway an id of its own'),
  pairing_rejected: row('transport', 'The operator rejected the pairing', 'Pairing was rejected', 125, 'Ask the operator of the controller'),

  gateway_not_connected: row('controller', 'The target host is not connected', 'Gateway is not connected', 125, 'Wait until the host is back', true),
  pairing_not_waiting: row('controller', 'No host that waits for approval has this id and code', 'No such pairing is waiting', 125, 'See who waits: burrow controller pairings'),
  gateway_not_ready: row('controller', 'The target host is connected but not authenticated', 'Gateway is not ready', 125, 'Approve its pairing or wait', true),
  gateway_disconnected: row('controller', 'The connection ended before the answer came', 'Gateway disconnected before the answer', 125, 'Retry the same operation id after it reconnects', true),

  native_filesystem_tool_unsupported: row('filesystem', 'The tool does not exist', 'Filesystem tool is not known', 1, 'Use one of the seven tools in docs/protocol.md'),
  query_required: row('filesystem', 'files_search needs a query', 'Argument "query" is empty', 1, 'Give a query that is not empty'),
  old_text_not_found: row('filesystem', 'oldText does not occur in the file', 'Argument "oldText" does not occur in the file', 1, 'Read the file again and copy the text exactly'),
  old_text_not_unique: row('filesystem', 'oldText occurs more than once', 'Argument "oldText" occurs more than once', 1, 'Give more of the surrounding text'),
  not_a_regular_file: row('filesystem', 'The path is a FIFO, a device or a socket', 'Path is not a regular file', 1, 'Give the path of a regular file'),
  cancelled: row('filesystem', 'The operation was cancelled', 'Operation was cancelled', 1, 'Send it again under a new operation id'),

  working_directory_missing: row('local', 'A command was started in a directory that was removed', 'Working directory no longer exists', 125, 'Change to a directory that exists, and run the command there'),
  working_directory_not_text: row('local', 'A command was started in a directory whose path is not UTF-8', 'Path of the working directory is not UTF-8', 125, 'Change to a directory whose whole path is UTF-8, and run the command there'),
  internal_error: row('local', 'The gateway met a state it did not foresee', 'Gateway failed unexpectedly', 1, 'Report it with the log of the gateway'),
} satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof table;

export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = table;

export interface ErrorDetails {
  /** Replaces the table's sentence. Capital first, no final stop, values quoted, never a secret. */
  message?: string;
  operationId?: string;
  /** Which parameters are wrong: JSON path such as `params.timeoutMs`, and why. */
  issues?: readonly { path: string; message: string }[];
  errno?: string;
  [field: string]: unknown;
}

/** The one error class. Callers compare `code`, never the text and never the class. */
export class BurrowError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}, cause?: unknown) {
    super(details.message ?? ERRORS[code].message, cause === undefined ? undefined : { cause });
    this.name = 'BurrowError';
    this.code = code;
    this.details = details;
  }
}

/** Recognises a BurrowError by shape, so that two copies of this module still understand each other. */
export function isBurrowError(value: unknown): value is BurrowError {
  return value instanceof Error && value.name === 'BurrowError' && 'code' in value && 'details' in value;
}

function row(
  area: ErrorArea,
  meaning: string,
  message: string,
  exitStatus: ErrorRow['exitStatus'],
  remedy: string,
  retryable = false,
): ErrorRow {
  return { area, meaning, message, retryable, exitStatus, remedy };
}
