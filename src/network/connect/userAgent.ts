import { version } from "../../version.ts"

/** The user agent that we announce (BIP 14), with the operator's comment. */
export const ownUserAgent = (comment: string | undefined): string =>
  comment === undefined || comment === "" ? `/svcd:${version}/` : `/svcd:${version}(${comment})/`
