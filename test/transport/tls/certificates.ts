// Certificates for tests, made with openssl: an authority and what it signs, for any names and any time.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Issued {
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
}

export interface Authority extends Issued {
  /** `names` such as `DNS:localhost,IP:127.0.0.1`; `days` may be negative: expired. */
  issue(name: string, options?: { names?: string; days?: number }): Issued;
}

const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

export function createAuthority(directory: string, name = 'ca'): Authority {
  const own = files(directory, name);
  openssl(
    'req',
    '-x509',
    ...KEY,
    '-keyout',
    own.keyFile,
    '-out',
    own.certFile,
    '-subj',
    `/CN=${name}`,
    '-days',
    '365',
  );
  return {
    ...read(own),
    issue(child, { names = 'DNS:localhost,IP:127.0.0.1', days = 90 } = {}) {
      const issued = files(directory, child);
      const [request, extensions] = [join(directory, `${child}.csr`), join(directory, `${child}.ext`)];
      writeFileSync(extensions, `subjectAltName=${names}\n`);
      openssl('req', '-new', ...KEY, '-keyout', issued.keyFile, '-out', request, '-subj', `/CN=${child}`);
      const sign = [
        '-CA',
        own.certFile,
        '-CAkey',
        own.keyFile,
        '-days',
        String(days),
        '-extfile',
        extensions,
      ];
      openssl('x509', '-req', '-in', request, ...sign, '-out', issued.certFile);
      return read(issued);
    },
  };
}

function files(directory: string, name: string): { certFile: string; keyFile: string } {
  return { certFile: join(directory, `${name}.pem`), keyFile: join(directory, `${name}.key`) };
}

function read(paths: { certFile: string; keyFile: string }): Issued {
  return { ...paths, cert: readFileSync(paths.certFile, 'utf8'), key: readFileSync(paths.keyFile, 'utf8') };
}

function openssl(...args: string[]): void {
  execFileSync('openssl', args, { stdio: 'pipe' });
}
