// Chance, handed in wherever something is spread out in time. Not for secrets.

/** From 0 to 1, as Math.random. */
export type Random = () => number;

export const systemRandom: Random = () => Math.random();
