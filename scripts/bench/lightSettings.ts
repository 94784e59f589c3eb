/** Generated chains end in the past: a tip of this age, in seconds, still counts as current. */
export const YEARS = 20 * 365 * 86_400
