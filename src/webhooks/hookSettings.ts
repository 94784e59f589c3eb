import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { randomBytes, randomHex } from "../base/entropy.ts"
import { quoted } from "../base/safeText.ts"
import { keyOfSecret, type WebhookFilter, type WebhookSettings } from "../config/webhookKinds.ts"
import { type EventCursor, readCursorText } from "../names/events/EventCursor.ts"
import type { EventFilter } from "../names/events/EventFilter.ts"
import { type FilterWriting, readFilter } from "../names/events/filterTexts.ts"
import { NAME_ENCODINGS, type NameEncoding } from "../protocol/nameText.ts"
import { WebhookMisconfigured } from "./errors.ts"
import type { HookRow } from "./HookStore.ts"

/** A hook from its texts: in the configuration file, a call, or webhooks.db. */

/** Hooks per node, each with at most one message in memory. */
export const MAX_HOOKS = 64

/** Only letters and digits, for use in a header, bodies and commands. */
export const newHookId = (): string => randomHex(8)

export const newSecret = (): Redacted.Redacted<string> =>
  Redacted.make(`whsec_${Buffer.from(randomBytes(32)).toString("base64")}`)

/** Scheme, host and port. The rest of a URL may be a secret of the receiver. */
export const originOf = (url: string): string => new URL(url).origin

const NO_FILTER: WebhookFilter = { names: [], prefixes: [], owners: [], types: [] }

const texts = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((item) => typeof item === "string") : []

/** A filter for webhooks.db with the encoding of its names, as the node's setting may change. */
export const filterText = (filter: WebhookFilter, nameEncoding: NameEncoding): string =>
  JSON.stringify({ ...filter, nameEncoding })

interface StoredFilter {
  readonly filter: WebhookFilter
  readonly nameEncoding: NameEncoding | undefined
}

export const storedFilter = ({ filter }: Pick<HookRow, "filter">): StoredFilter => {
  const parsed: unknown = JSON.parse(filter)
  if (typeof parsed !== "object" || parsed === null) return { filter: NO_FILTER, nameEncoding: undefined }
  const { nameEncoding, names, owners, prefixes, types }: Partial<Record<string, unknown>> = { ...parsed }
  return {
    filter: { names: texts(names), prefixes: texts(prefixes), owners: texts(owners), types: texts(types) },
    nameEncoding: NAME_ENCODINGS.find((encoding) => encoding === nameEncoding)
  }
}

export interface ConfiguredHook extends WebhookSettings {
  readonly events: EventFilter
  readonly key: Uint8Array
  /** Where a new hook begins; `undefined` for the next block. */
  readonly begin: EventCursor | undefined
}

const WRONG_SECRET = "secret: is not whsec_ and 24 to 64 bytes in base64"

/** Reads the filters of the configuration file. Refuses two hooks with the same URL, which identifies them. */
export const readConfigured = (
  hooks: ReadonlyArray<WebhookSettings>,
  writing: FilterWriting
): Either.Either<ReadonlyArray<ConfiguredHook>, WebhookMisconfigured> =>
  Either.all(hooks.map((hook, i) =>
    Either.gen(function*() {
      const wrong = (reason: string) => new WebhookMisconfigured({ table: i + 1, reason })
      const first = hooks.findIndex(({ url }) => url === hook.url)
      if (first < i) {
        yield* Either.left(wrong(`url: is that of webhook ${first + 1}; join their filters in one table`))
      }
      if (i >= MAX_HOOKS) yield* Either.left(wrong(`at most ${MAX_HOOKS} webhooks are allowed`))
      const events = yield* Either.mapLeft(readFilter(hook.filter, writing), wrong)
      const { from } = hook
      const begin = from === undefined ? undefined : readCursorText(from)
      if (from !== undefined && begin === undefined) {
        yield* Either.left(wrong(`from: ${quoted(from)} is not "now", "0" or a cursor of svcd`))
      }
      const key = yield* Either.fromNullable(keyOfSecret(hook.secret), () => wrong(WRONG_SECRET))
      return { ...hook, events, key, begin }
    })
  ))
