import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { chmodSync, readFileSync, rmSync } from "node:fs"
import { replaceFile } from "../base/atomicFile.ts"
import { randomHex } from "../base/entropy.ts"
import { codeOf, reasonOf } from "../base/errorCode.ts"
import { shownPath } from "../base/safeText.ts"
import { COOKIE_USER, type CookieSettings } from "../config/cookie.ts"
import { DataDirectory } from "../config/DataDirectory.ts"
import type { Credentials } from "../config/settings.ts"

const PASSWORD_BYTES = 32

export class CookieUnwritable extends Schema.TaggedError<CookieUnwritable>()("CookieUnwritable", {
  path: Schema.String,
  code: Schema.String
}) {
  override get message(): string {
    return `cannot write the RPC cookie ${shownPath(this.path)}: ${reasonOf(this.code)}; ` +
      "-rpccookiefile names another place"
  }
}

const write = ({ mode, path }: CookieSettings, text: string): Effect.Effect<void, CookieUnwritable> =>
  Effect.tryPromise({
    try: async () => {
      await replaceFile(path, [text], `${path}.tmp`)
      // Before that it was for its owner alone.
      chmodSync(path, mode)
    },
    catch: (error) => new CookieUnwritable({ path, code: codeOf(error) })
  })

/** Keeps a cookie of another daemon. */
const remove = ({ path }: CookieSettings, text: string): Effect.Effect<void> =>
  Effect.sync(() => {
    try {
      if (readFileSync(path, "utf8") === text) rmSync(path, { force: true })
    } catch {
      return
    }
  })

/**
 * Writes a new password to the cookie file until the scope closes. Requires the data directory, so that a second
 * daemon, which cannot have it, does not replace the cookie.
 */
export const rpcCookie = (
  settings: CookieSettings
): Effect.Effect<Credentials, CookieUnwritable, DataDirectory | Scope.Scope> =>
  Effect.gen(function*() {
    yield* DataDirectory
    const password = randomHex(PASSWORD_BYTES)
    const text = `${COOKIE_USER}:${password}`
    yield* Effect.acquireRelease(write(settings, text), () => remove(settings, text))
    yield* Effect.logInfo("RPC callers need the password in the cookie file", { path: settings.path })
    return { user: COOKIE_USER, password: Redacted.make(password) }
  }).pipe(Effect.annotateLogs("subsystem", "rpc"))
