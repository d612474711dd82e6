// The address of a controller as it is configured: `tls://host`, `tls://host:8443`, `tls://[::1]:8443`.

import { isIP } from 'node:net';
import { ConfigurationError } from '../../support/configuration-error.ts';

const DEFAULT_PORT = 443;
const MAX_NAME_CHARACTERS = 253;
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/;

export interface ControllerAddress {
  /** A name or an IP address, without brackets: where it is dialled. */
  host: string;
  port: number;
  /** What is sent as server name: none for an IP address (RFC 6066, section 3). */
  serverName: string | undefined;
  /** What the certificate must be for: the server name, or the IP address. */
  certificateName: string;
  /** For people: `tls://host:443`. */
  text: string;
}

/**
 * `serverName`: asked for, and looked for in the certificate, in place of the host of the URL. Throws ConfigurationError for
 * anything but a scheme `tls`, a host and a port, and for a server name that is none, such as an IP address.
 */
export function parseControllerUrl(text: string, serverName?: string): ControllerAddress {
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
    ...namesOf(host, serverName),
    text: `tls://${host.includes(':') ? `[${host}]` : host}:${port}`,
  };
}

function namesOf(
  host: string,
  given: string | undefined,
): Pick<ControllerAddress, 'serverName' | 'certificateName'> {
  if (given !== undefined) {
    const serverName = parseServerName(given);
    return { serverName, certificateName: serverName };
  }
  // The dot that ends a full name is none of its own (RFC 6066, section 3).
  const name = host.replace(/\.$/, '');
  return { serverName: isIP(name) === 0 ? name : undefined, certificateName: name };
}

function parseServerName(text: string): string {
  const name = text.replace(/\.$/, '').toLowerCase();
  if (isIP(name.replace(/^\[(.*)\]$/, '$1')) !== 0) {
    throw new ConfigurationError(
      `Server name "${text}" of the controller is an IP address, which TLS does not send: give a DNS name, or leave it out`,
    );
  }
  if (name.length <= MAX_NAME_CHARACTERS && name.split('.').every((label) => LABEL.test(label))) return name;
  throw new ConfigurationError(
    `Server name ${JSON.stringify(text.slice(0, MAX_NAME_CHARACTERS))} of the controller is not a DNS name: give the one in its certificate`,
  );
}

/** A password typed into the URL must not end up in a log. */
function withoutCredentials(text: string): string {
  return text.replace(/\/\/[^/@]*@/, '//…@');
}
