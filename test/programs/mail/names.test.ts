import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { NameClient } from "../../../src/client/NameClient.ts"
import { mailNames } from "../../../src/programs/mail/names.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { fakeDaemon } from "../../support/fakeDaemon.ts"

const basic = (text: string) => `Basic ${Buffer.from(text).toString("base64")}`

const VALUE = {
  name: Buffer.from("id/x").toString("hex"),
  name_encoding: "hex",
  value: Buffer.from("{}").toString("hex"),
  value_encoding: "hex",
  txid: "00".repeat(32),
  vout: 0,
  address: "N7FdkoPbHSxKfrSVVbRu3NZtrLqc1oKpAR",
  height: 690,
  expires_in: 20,
  expired: false
}

describe("the names of svcd-mail", () => {
  it.scopedLive("come from a daemon that asks for its cookie, even after a restart of the daemon", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      const cookieFile = join(dataDir, ".cookie")
      let accepted: string | undefined
      const daemon = yield* fakeDaemon(({ authorization, method }) => {
        if (authorization !== accepted) return { status: 401 }
        return method === "name_show" ? { result: VALUE } : undefined
      })
      const lookUp = (host = "127.0.0.1") =>
        Effect.flatMap(NameClient, (names) => names.resolveName("id/x")).pipe(
          Effect.provide(
            mailNames({
              network: "regtest",
              networkFrom: "-network",
              rpcAddrFrom: "default",
              dataDir,
              cookieFile,
              rpc: { host, port: daemon.port, credentials: undefined }
            })
          )
        )
      // A daemon that asks for nothing gets no secret.
      writeFileSync(cookieFile, "__cookie__:one\n")
      assert.strictEqual((yield* lookUp()).name, "id/x")
      assert.isTrue(daemon.calls.every(({ authorization }) => authorization === undefined))
      accepted = basic("__cookie__:one")
      assert.strictEqual((yield* lookUp()).name, "id/x")
      accepted = basic("__cookie__:two")
      assert.strictEqual((yield* Effect.flip(lookUp()))._tag, "Unauthorized")
      rmSync(cookieFile)
      assert.strictEqual((yield* Effect.flip(lookUp()))._tag, "Unauthorized")
    }))

  it.scopedLive("say which flag is wrong where the daemon is on another network", () =>
    Effect.gen(function*() {
      const dataDir = yield* temporaryDirectory
      const daemon = yield* fakeDaemon(() => undefined)
      const rpc = { host: "127.0.0.1", port: daemon.port, credentials: undefined }
      const layer = mailNames({
        network: "mainnet",
        networkFrom: "-network",
        rpcAddrFrom: "default",
        dataDir,
        cookieFile: join(dataDir, ".cookie"),
        rpc
      })
      const { message } = yield* Effect.flip(Effect.provide(NameClient, layer))
      assert.strictEqual(message, `--network: the daemon at 127.0.0.1:${daemon.port} is on regtest, not mainnet`)
    }))
})
