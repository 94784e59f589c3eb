import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { unixTime } from "../../base/clock.ts"
import { type StorageFailure, StorageUnavailable } from "../../storage/errors.ts"
import { invalidRequest, type InvalidWalletRequest, type KeysLocked, type WalletWatchOnly } from "../errors.ts"
import { wholeWord } from "./mnemonic.ts"
import type { Vault } from "./Vault.ts"
import { isPhraseKept, withPhraseChecked, withPhraseKept } from "./WalletDocument.ts"
import type { WalletFile } from "./WalletFile.ts"

export interface WalletRecovery {
  /** Whether the owner has seen the seed phrase or has a copy of the file; `undefined` without a seed phrase. */
  readonly isPhraseKept: () => boolean | undefined
  /** When the owner last verified words, seconds since 1970. */
  readonly phraseChecked: () => number | undefined
  /**
   * Checks words by their place, from 1 on, and stores the time if all are right. Requires the unlocked wallet, at
   * least `FEWEST_WORDS` words and, against guessing, a second after a wrong answer. The answer does not tell which
   * word is wrong.
   */
  readonly checkWords: (
    given: ReadonlyMap<number, Redacted.Redacted<string>>
  ) => Effect.Effect<boolean, KeysLocked | WalletWatchOnly | InvalidWalletRequest | StorageFailure>
  /** Fails if the destination exists. */
  readonly backup: (destination: string) => Effect.Effect<void, StorageFailure>
}

/** At one guess per second, one word takes 2,048 guesses, two take 4 million and three 8.6 billion. */
export const FEWEST_WORDS = 3

/** BIP 39. */
export const MOST_WORDS = 24

const AFTER_WRONG = "1 second"

const normal = (word: string): string => wholeWord(word.normalize("NFKD").trim().toLowerCase())

interface Parts {
  readonly file: WalletFile
  readonly vault: Pick<Vault, "secrets">
}

const makeCheck = (parts: Parts): WalletRecovery["checkWords"] => {
  // Concurrent calls must not share the second after a wrong answer.
  const alone = Effect.unsafeMakeSemaphore(1).withPermits(1)
  return (given) =>
    Effect.gen(function*() {
      if (parts.file.document.seed?.mnemonic === undefined) {
        return yield* invalidRequest("no-words", "this wallet has no seed phrase")
      }
      if (given.size < FEWEST_WORDS) return yield* invalidRequest("range", `give ${FEWEST_WORDS} words at least`)
      const words = (yield* parts.vault.secrets).mnemonic?.split(" ") ?? []
      const outside = [...given.keys()].find((place) => words[place - 1] === undefined)
      if (outside !== undefined) {
        return yield* invalidRequest(
          "range",
          `the wallet has ${words.length} words, so that there is no word ${outside}`
        )
      }
      const right = [...given].filter(([place, word]) => normal(Redacted.value(word)) === words[place - 1])
      if (right.length < given.size) return yield* Effect.as(Effect.uninterruptible(Effect.sleep(AFTER_WRONG)), false)
      const now = yield* unixTime
      yield* parts.file.update((document) => withPhraseChecked(document, now))
      return true
    }).pipe(alone)
}

/** An existing destination is a storage failure, too. */
const makeBackup = (parts: Parts): WalletRecovery["backup"] => (destination) =>
  parts.file.backup(destination).pipe(
    Effect.catchTag(
      "InvalidWalletRequest",
      ({ code, reason }) =>
        new StorageUnavailable({
          file: destination,
          doing: "writing",
          reason,
          code: code === "exists" ? "EEXIST" : "ENOENT"
        })
    ),
    Effect.zipRight(isPhraseKept(parts.file.document) === false ? parts.file.update(withPhraseKept) : Effect.void),
    Effect.asVoid
  )

export const makeRecovery = (parts: Parts): WalletRecovery => ({
  isPhraseKept: () => isPhraseKept(parts.file.document),
  phraseChecked: () => parts.file.document.phraseChecked,
  checkWords: makeCheck(parts),
  backup: makeBackup(parts)
})
