// Runs the nodes of a file as the binary's own `burrow node host` does, from source: `node host-entry.ts FILE`.
import { hostNodes } from '../../src/octonode/host/host.ts';

const end = await hostNodes(process.argv[2] ?? '', process);
process.exit(end === 'ended' ? 0 : 1);
