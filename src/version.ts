// The version, in one place: the build replaces both names with values from package.json and git.

declare const BURROW_VERSION: string;
declare const BURROW_COMMIT: string;

export const VERSION: string = BURROW_VERSION;
export const COMMIT: string = BURROW_COMMIT;
