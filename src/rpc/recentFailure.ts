/** Days for which lists show what has failed. */
const DAYS = 30

/**
 * Whether a registration or renewal that has failed is new enough to be shown: in `svcd-cli names`, `svcd-cli registrations` and on the
 * desk. Both are Unix times in seconds; `begun` is when it began.
 */
export const isRecentFailure = ({ begun, now }: { readonly begun: number; readonly now: number }): boolean =>
  begun > now - DAYS * 86_400
