/** Days for which lists show what has failed. */
const DAYS = 30

/** Whether lists (`svcd-cli names`, `svcd-cli registrations`, desk) still show a failure. Times are Unix seconds. */
export const isRecentFailure = ({ begun, now }: { readonly begun: number; readonly now: number }): boolean =>
  begun > now - DAYS * 86_400
