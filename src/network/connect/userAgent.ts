import { version } from "../../version.ts"

/** What we announce as our user agent (BIP 14). The comment is what the operator configured. */
export const ownUserAgent = (comment: string | undefined): string =>
  comment === undefined || comment === "" ? `/svcd:${version}/` : `/svcd:${version}(${comment})/`
