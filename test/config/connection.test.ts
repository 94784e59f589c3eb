import { assert, describe, it } from "@effect/vitest"
import { Either, Redacted } from "effect"
import { decodeConnection } from "../../src/config/connection.ts"
import { DEFAULT_FILE, inputOf } from "./input.ts"

const decode = (...input: Parameters<typeof inputOf>) => Either.getOrThrow(decodeConnection(inputOf(...input)))

const problems = (...input: Parameters<typeof inputOf>) =>
  Either.match(decodeConnection(inputOf(...input)), { onLeft: ({ problems }) => problems, onRight: () => [] })

describe("decodeConnection", () => {
  it("reads the shared flags and leaves the rest to the tool", () => {
    const { connection, rest } = decode(["-rpcaddr", "127.0.0.1:5", "-network=regtest", "getblockhash", "0", "-x"])
    assert.deepStrictEqual(connection, {
      network: "regtest",
      networkFrom: "-network",
      dataDir: "/home/me/.svcd",
      rpc: { host: "127.0.0.1", port: 5, credentials: undefined },
      cookieFile: "/home/me/.svcd/.cookie",
      rpcAddrFrom: "-rpcaddr"
    })
    assert.deepStrictEqual(rest, ["getblockhash", "0", "-x"])
  })

  it("takes the daemon's file and environment, whatever else they have", () => {
    const text =
      "rpcaddr = \"127.0.0.1:7\"\nrpcuser = \"cli\"\nrpcpassword = \"s3cret\"\nmaxpeers = 0\nloglevel = \"loud\""
    const { connection } = decode(["-datadir", "/d"], { files: { "/d/svcd.conf": text } })
    assert.deepStrictEqual([connection.rpc.port, connection.rpc.credentials?.user, connection.dataDir], [
      7,
      "cli",
      "/d"
    ])
    assert.strictEqual(connection.rpcAddrFrom, "/d/svcd.conf:1")
    assert.strictEqual(decode([]).connection.rpcAddrFrom, "default")
    assert.strictEqual(decode([]).connection.networkFrom, undefined)
    assert.strictEqual(decode([], { env: { SVCD_NETWORK: "mainnet" } }).connection.networkFrom, "SVCD_NETWORK")
    const env = { SVCD_RPC_USER: "u", SVCD_RPC_PASSWORD: "p", SVCD_LOG_LEVEL: "loud" }
    const credentials = decode([], { env }).connection.rpc.credentials
    assert.strictEqual(credentials && Redacted.value(credentials.password), "p")
  })

  it("calls a daemon that listens on every interface on loopback, credentials or not", () => {
    const rpcOf = (rpcaddr: string) => decode([`-rpcaddr=${rpcaddr}`]).connection.rpc.host
    assert.deepStrictEqual(["0.0.0.0:1", ":1", "[::]:1", "10.0.0.1:1"].map(rpcOf), [
      "127.0.0.1",
      "127.0.0.1",
      "::1",
      "10.0.0.1"
    ])
  })

  it("refuses flags of the daemon, half credentials and a broken file", () => {
    assert.deepStrictEqual(problems(["-loadblock", "x"]), ["-loadblock: unknown flag"])
    assert.deepStrictEqual(problems(["-rpcuser=a"]), [
      "-rpcuser: is given without rpcpassword; RPC needs both or neither"
    ])
    assert.deepStrictEqual(problems([], { files: { [DEFAULT_FILE]: "x = 1" } }), [`${DEFAULT_FILE}:1 x: unknown key`])
  })
})
