import { version } from "../version.ts"

/** BIP 14, with the operator's comments. */
export const ownUserAgent = (comments: ReadonlyArray<string>): string => {
  const given = comments.filter((comment) => comment !== "")
  return given.length === 0 ? `/svcd:${version}/` : `/svcd:${version}(${given.join("; ")})/`
}
