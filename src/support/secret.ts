// A value that must not be printed by accident: text, JSON and inspection show a mask. `reveal()` is called where the value
// is used and nowhere else. It protects against slips, not against code that wants the value.

const SHOWN = '[secret]';

export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return SHOWN;
  }

  toJSON(): string {
    return SHOWN;
  }

  /** What `util.inspect`, and with it every console and assertion, shows. */
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return SHOWN;
  }
}
