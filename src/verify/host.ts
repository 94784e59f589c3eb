/** What the verifier takes from the machine. It runs in browsers, outside of any node. */

/** Seconds since 1970. */
export const unixNow = (): number => Math.floor(Date.now() / 1000)
