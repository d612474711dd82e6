// The address of a controller as it is configured: `tls://host`, `tls://host:8443`, `tls://[::1]:8443`.

import { isIP } from 'node:net';
import { ConfigurationError } from '../../support/configuration-error.ts';

const DEFAULT_PORT = 443;

export interface ControllerAddress {
  /** A name or an IP address, without brackets. Certificates are checked against it. */
  host: string;
  port: number;
  /** What is sent as server name: none for an IP address (RFC 6066, section 3). */
  serverName: string | undefined;
  /** For people: `tls://host:443`. */
  text: string;
}

/** Throws ConfigurationError for anything but a scheme `tls`, a host and a port. */
export function parseControllerUrl(text: string): ControllerAddress {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1').toLowerCase() ?? '';
  if (url?.protocol !== 'tls:' || host === '') {
    throw new ConfigurationError(
      `Controller URL "${withoutCredentials(text)}" is not of the form tls://HOST[:PORT]: give the address of the controller`,
    );
  }
  const hasMore = url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '';
  if (hasMore || (url.pathname !== '' && url.pathname !== '/')) {
    throw new ConfigurationError(
      `Controller URL of host "${host}" has more than a host and a port: leave out user, path, query and fragment`,
    );
  }
  const port = url.port === '' ? DEFAULT_PORT : Number(url.port);
  if (port === 0)
    throw new ConfigurationError(`Controller URL of host "${host}" has port 0: give the real one`);
  return {
    host,
    port,
    serverName: isIP(host) === 0 ? host : undefined,
    text: `tls://${host.includes(':') ? `[${host}]` : host}:${port}`,
  };
}

/** A password typed into the URL must not end up in a log. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//…@');
}
