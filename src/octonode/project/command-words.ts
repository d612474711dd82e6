// A command written as one string, split as a shell splits plain words: blanks part, quotes join, a backslash takes the
// next character as it is. Nothing is expanded and no shell is run.

const WORD = /(?:[^\s'"\\]+|\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*")+/g;
const PART = /\\([\s\S])|'([^']*)'|"((?:[^"\\]|\\[\s\S])*)"|([^\s'"\\]+)/g;

export function splitWords(text: string): string[] {
  return [...text.matchAll(WORD)].map(([word]) =>
    word.replace(PART, (_whole, escaped?: string, single?: string, double?: string, plain?: string) =>
      double === undefined ? (escaped ?? single ?? plain ?? '') : double.replace(/\\(["\\$`])/g, '$1'),
    ),
  );
}
