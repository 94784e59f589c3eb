import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Redacted, Scope } from "effect"
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as DataDirectory from "../../src/config/DataDirectory.ts"
import { rpcCookie } from "../../src/node/rpcCookie.ts"
import { temporaryDirectory } from "../support/chain.ts"

const makeCookie = (directory: string, mode = 0o600) =>
  rpcCookie({ path: join(directory, ".cookie"), mode }).pipe(
    Effect.provide(DataDirectory.layer({ path: join(directory, "data"), network: "regtest" }))
  )

describe("rpcCookie", () => {
  it.scoped("writes new credentials, for the named readers, until the scope closes", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const path = join(directory, ".cookie")
      // What a daemon that was killed left behind.
      writeFileSync(path, "__cookie__:old", { mode: 0o644 })
      writeFileSync(`${path}.tmp`, "__coo")
      const texts = new Set<string>()
      for (const mode of [0o600, 0o640, 0o644]) {
        const scope = yield* Scope.make()
        const { password, user } = yield* Scope.extend(makeCookie(directory, mode), scope)
        const text = readFileSync(path, "utf8")
        assert.strictEqual(text, `${user}:${Redacted.value(password)}`)
        assert.match(text, /^__cookie__:[0-9a-f]{64}$/)
        assert.strictEqual(statSync(path).mode & 0o777, mode)
        texts.add(text)
        yield* Scope.close(scope, Exit.void)
        assert.deepStrictEqual(readdirSync(directory), ["data"])
      }
      assert.strictEqual(texts.size, 3)
    }))

  it.scoped("leaves the cookie of another daemon alone", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const path = join(directory, ".cookie")
      const scope = yield* Scope.make()
      yield* Scope.extend(makeCookie(directory), scope)
      writeFileSync(path, "__cookie__:other")
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(readFileSync(path, "utf8"), "__cookie__:other")
    }))

  it.scoped("fails with path, reason and remedy, and leaves no part of a cookie", () =>
    Effect.gen(function*() {
      const directory = yield* temporaryDirectory
      const path = join(directory, ".cookie")
      mkdirSync(`${path}.tmp`)
      const error = yield* Effect.flip(makeCookie(directory))
      assert.match(error.message, /^cannot write the RPC cookie .*\.cookie: .*; -rpccookiefile names another place$/)
      assert.isFalse(existsSync(path))
    }))
})
