import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { isIP } from "node:net"
import { forbiddenHere, type ForbiddenKind } from "../base/specialAddress.ts"
import { keyOfSecret, type WebhookChoice } from "../config/webhookKinds.ts"
import { type FilterWriting, readFilter } from "../names/events/filterTexts.ts"
import { type ConfiguredHook, filterText, originOf, storedFilter } from "./hookSettings.ts"
import type { HookRow } from "./HookStore.ts"
import type { LiveHook } from "./HookWorker.ts"
import { type PostParts, systemResolve } from "./post.ts"

export interface HookSettings {
  readonly choice: WebhookChoice
  readonly configured: ReadonlyArray<ConfiguredHook>
  readonly writing: FilterWriting
  readonly post: Partial<PostParts> | undefined
}

/** A hook with what its file lacks. */
export interface KnownHook extends LiveHook {
  /** `undefined` if the configuration no longer has it, so that nothing is sent. */
  readonly key: Uint8Array | undefined
}

const configuredOf = ({ configured }: HookSettings, { source, url }: HookRow) =>
  source === "configuration" ? configured.find((hook) => hook.url === url) : undefined

/** A stored hook with its settings, which the configuration may have changed. */
export const knownOf = (settings: HookSettings, row: HookRow): KnownHook => {
  const { writing } = settings
  const origin = originOf(row.url)
  if (row.source === "configuration") {
    const own = configuredOf(settings, row)
    return own === undefined
      ? { row, origin, filter: {}, key: undefined }
      : {
        row: { ...row, filter: filterText(own.filter, writing.nameEncoding) },
        origin,
        filter: own.events,
        key: own.key
      }
  }
  const stored = storedFilter(row)
  const filter = readFilter(stored.filter, { ...writing, nameEncoding: stored.nameEncoding ?? writing.nameEncoding })
  // Without its filter, a hook would send what its receiver does not want, so it sends nothing.
  if (Either.isLeft(filter) || row.secret === undefined) return { row, origin, filter: {}, key: undefined }
  return { row, origin, filter: filter.right, key: keyOfSecret(Redacted.make(row.secret)) }
}

/** Why the address in a URL is forbidden. A host name is resolved for each attempt. */
const forbiddenHost = (url: string): ForbiddenKind | undefined => {
  const host = new URL(url).hostname.replace(/^\[|\]$/g, "")
  return isIP(host) === 0 ? undefined : forbiddenHere(host)
}

/** Why the node must not send to the address in a URL, which other settings may have allowed before. */
export const forbiddenOf = (
  { choice }: HookSettings,
  { source, url }: Pick<HookRow, "source" | "url">
): ForbiddenKind | undefined => source === "configuration" || choice.allowPrivate ? undefined : forbiddenHost(url)

/** How to send to a hook. A caller's hook does not reach forbidden addresses. */
export const postPartsFor = ({ choice, post }: HookSettings, { source }: HookRow): PostParts => ({
  resolve: systemResolve,
  forbidden: source === "configuration" || choice.allowPrivate ? () => undefined : forbiddenHere,
  ...post
})
