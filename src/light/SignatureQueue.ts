import * as Effect from "effect/Effect"
import { attempt } from "../chain/attempt.ts"
import type { LinkCheck } from "../consensus/nameLink.ts"
import type { Bytes } from "../protocol/bytes.ts"
import { type NameKey, nameKey } from "../protocol/keys.ts"
import type { StorageFailure } from "../storage/errors.ts"
import type { LightChain } from "./LightChain.ts"
import type { LinkPool } from "./LinkPool.ts"
import { checkOf, type LinkRules, verifyLink } from "./signatures.ts"
import type { LinkRow, WindowFile } from "./WindowFile.ts"

/** Maximum signatures that a caller waits for: about five milliseconds of work. */
const LINKS_A_TURN = 64

/** Maximum requested names with more signatures than that. */
const MOST_ASKED = 1_000

/** Signatures checked in one transaction. */
const LINKS_AT_ONCE = 512

export interface SignatureQueueParts {
  readonly chain: LightChain
  readonly file: WindowFile
  readonly pool: LinkPool
  /** Drops names from the cache. */
  readonly changed: (names: ReadonlyArray<NameKey>) => void
}

/** The unchecked signatures of a window, those on requested names first. */
export class SignatureQueue {
  readonly #parts: SignatureQueueParts
  readonly #asked = new Map<NameKey, Bytes>()

  constructor(parts: SignatureQueueParts) {
    this.#parts = parts
  }

  /** Checks the next signatures. Returns whether there were any. */
  readonly verifySome: Effect.Effect<boolean, StorageFailure> = Effect.gen(this, function*() {
    const { pool } = this.#parts
    const links = yield* attempt(() => this.#next())
    if (links.length === 0) {
      yield* pool.rest
      return false
    }
    const rules = this.#rules()
    const checks = links.map((link) => checkOf(link, rules))
    const valid = (yield* pool.verify(checks.filter((check): check is LinkCheck => typeof check !== "boolean")))
      .values()
    const verdicts = checks.map((check) => typeof check === "boolean" ? check : valid.next().value === true)
    yield* attempt(() => this.#checked(links, verdicts))
    return true
  })

  /** Moves the signatures on a name that a caller waits for to the front. Throws `StorageFailure`. */
  hurry(name: Bytes): void {
    const { chain, file } = this.#parts
    const links = file.linksOf(name, LINKS_A_TURN + 1)
    if (links.length === 0 && chain.isFilled) return
    if (links.length <= LINKS_A_TURN && chain.isFilled) {
      const rules = this.#rules()
      this.#checked(links, links.map((link) => verifyLink(link, rules)))
    } else if (this.#asked.size < MOST_ASKED) this.#asked.set(nameKey(name), Uint8Array.from(name))
  }

  #rules(): LinkRules {
    const { chain } = this.#parts
    return { params: chain.params, low: chain.range.low }
  }

  #next(): ReadonlyArray<LinkRow> {
    const { chain, file } = this.#parts
    if (!chain.isFilled) return []
    for (const [key, name] of this.#asked) {
      const links = file.linksOf(name, LINKS_AT_ONCE)
      if (links.length > 0) return links
      this.#asked.delete(key)
    }
    return file.nextLinks(LINKS_AT_ONCE)
  }

  #checked(links: ReadonlyArray<LinkRow>, verdicts: ReadonlyArray<boolean>): void {
    const { changed, file } = this.#parts
    changed(links.map(({ name }) => nameKey(name)))
    file.change((changes) => {
      for (const [i, link] of links.entries()) changes.checked(link, verdicts[i] === true)
    })
  }
}
