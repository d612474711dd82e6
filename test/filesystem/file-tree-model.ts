// The plain model of a file tree that the random sequences are held against: a map from path to content.

export type Node = string | Map<string, Node>;

export class ModelError extends Error {}

export interface FileTreeModel {
  write(path: string, content: string): { created: boolean };
  read(path: string): string;
  edit(path: string, oldText: string, newText: string): void;
  typeOf(path: string): 'file' | 'directory' | null;
  /** All paths below the root, a directory right before its content, names in order. */
  walk(): { path: string; type: 'file' | 'directory' }[];
}

export function createFileTreeModel(): FileTreeModel {
  const root = new Map<string, Node>();

  function lookUp(path: string): Node | undefined {
    let node: Node | undefined = root;
    for (const name of path.split('/')) {
      if (node === undefined) return undefined;
      if (typeof node === 'string') throw new ModelError('ENOTDIR');
      node = node.get(name);
    }
    return node;
  }

  function parentOf(path: string): Map<string, Node> {
    let directory = root;
    for (const name of path.split('/').slice(0, -1)) {
      const next: Node = directory.get(name) ?? new Map<string, Node>();
      if (typeof next === 'string') throw new ModelError('ENOTDIR');
      directory.set(name, next);
      directory = next;
    }
    return directory;
  }

  function read(path: string): string {
    const node = lookUp(path);
    if (node === undefined) throw new ModelError('ENOENT');
    if (typeof node !== 'string') throw new ModelError('EISDIR');
    return node;
  }

  return {
    read,
    write(path, content) {
      const node = lookUp(path);
      if (node !== undefined && typeof node !== 'string') throw new ModelError('EISDIR');
      parentOf(path).set(path.split('/').at(-1) ?? '', content);
      return { created: node === undefined };
    },
    edit(path, oldText, newText) {
      if (oldText === '') throw new ModelError('invalid_params');
      const content = read(path);
      const crlf = (text: string): string => text.replace(/(?<!\r)\n/g, '\r\n');
      const edited =
        replaceOnly(content, oldText, newText) ?? replaceOnly(content, crlf(oldText), crlf(newText));
      if (edited === undefined) throw new ModelError('old_text_not_found');
      this.write(path, edited);
    },
    typeOf(path) {
      const node = lookUp(path);
      if (node === undefined) return null;
      return typeof node === 'string' ? 'file' : 'directory';
    },
    walk: () => [...walkBelow(root, '')],
  };
}

function replaceOnly(content: string, oldText: string, newText: string): string | undefined {
  const at = oldText === '' ? -1 : content.indexOf(oldText);
  if (at < 0) return undefined;
  if (content.indexOf(oldText, at + 1) >= 0) throw new ModelError('old_text_not_unique');
  return content.slice(0, at) + newText + content.slice(at + oldText.length);
}

function* walkBelow(
  directory: Map<string, Node>,
  prefix: string,
): Generator<{ path: string; type: 'file' | 'directory' }> {
  for (const name of [...directory.keys()].sort()) {
    const node = directory.get(name);
    if (node === undefined || name.startsWith('.')) continue;
    yield { path: prefix + name, type: typeof node === 'string' ? 'file' : 'directory' };
    if (typeof node !== 'string') yield* walkBelow(node, `${prefix}${name}/`);
  }
}
