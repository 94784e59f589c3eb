import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { openBrowser } from "../../../src/programs/cli/openBrowser.ts"
import { RpcFailure } from "../../../src/rpc/RpcClient.ts"
import { temporaryDirectory } from "../../support/chain.ts"
import { runWith } from "./commandRun.ts"

const PATH = `/desk/open?link=${"x".repeat(43)}`

const LINK = { createdesklink: { path: PATH, expires_in: 600, behind_proxy: false } }

const OFF = { createdesklink: new RpcFailure({ code: -1, message: "the desk is off" }) }

describe("svcd-cli desk", () => {
  it.effect("prints the link alone, and beside it how long it works", () =>
    Effect.gen(function*() {
      const { notes, run, sent } = runWith(LINK)
      assert.deepStrictEqual(yield* run("desk"), { code: 0, stderr: "", stdout: `http://127.0.0.1:8336${PATH}\n` })
      assert.deepStrictEqual(notes, ["Open this link in a browser within ten minutes. It works once."])
      assert.deepStrictEqual(sent("createdesklink"), [[]])
      const { stdout } = yield* run("desk", "-json")
      assert.deepStrictEqual(JSON.parse(stdout), { link: `http://127.0.0.1:8336${PATH}`, expires_in: 600 })
    }))

  it.effect("says which line turns the desk on, and that another daemon has none", () =>
    Effect.gen(function*() {
      const off = yield* runWith(OFF).run("desk")
      assert.deepStrictEqual([off.code, off.stdout], [1, ""])
      assert.include(off.stderr, "the desk is off\nAdd the line \"webwallet = true\" to /nowhere/svcd.conf")
      const other = yield* runWith({}).run("desk")
      assert.deepStrictEqual([other.code, other.stdout], [1, ""])
      assert.include(other.stderr, "another program, or an older svcd")
    }))

  it.effect("prints the tunnel to a daemon on another machine, and to this one over SSH", () =>
    Effect.gen(function*() {
      const far = runWith(LINK, { rpc: { host: "192.0.2.7", port: 18_336 } })
      assert.strictEqual((yield* far.run("desk")).stdout, `http://127.0.0.1:18336${PATH}\n`)
      assert.include(far.notes.join("\n"), "ssh -N -L 18336:127.0.0.1:18336 192.0.2.7")
      const ssh = runWith(LINK, { env: { SSH_CONNECTION: "198.51.100.4 50000 192.0.2.9 22" } })
      yield* ssh.run("desk")
      assert.include(ssh.notes.join("\n"), "ssh -N -L 8336:127.0.0.1:8336 192.0.2.9")
      const [local] = runWith(LINK, { rpc: { host: "::1", port: 8336 } }).notes
      assert.isUndefined(local)
    }))

  it.effect("puts the link below the address of a proxy, which must use HTTPS", () =>
    Effect.gen(function*() {
      const proxied = { createdesklink: { ...LINK.createdesklink, behind_proxy: true } }
      const plain = runWith(proxied)
      yield* plain.run("desk")
      assert.include(plain.notes.join(), "add -url https://HOST")
      for (const url of ["https://names.example.org", "https://names.example.org/"]) {
        const { notes, run } = runWith(proxied)
        assert.strictEqual((yield* run("desk", "-url", url)).stdout, `https://names.example.org${PATH}\n`)
        assert.notInclude(notes.join(), "-url")
      }
      const below = yield* runWith(proxied).run("desk", "-url", "https://example.org/svcd/")
      assert.strictEqual(below.stdout, `https://example.org/svcd${PATH}\n`)
      for (
        const url of ["http://names.example.org", "names.example.org", "https://a:b@example.org", "javascript:1", ""]
      ) {
        const { run, sent } = runWith(proxied)
        const wrong = yield* run("desk", "-url", url)
        assert.deepStrictEqual([wrong.code, wrong.stdout, sent("createdesklink")], [2, "", []], url)
      }
    }))

  it.effect("prints the link and fails if -open finds no browser", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* runWith(LINK).run("desk", "-open")
      assert.deepStrictEqual([code, stdout], [1, `http://127.0.0.1:8336${PATH}\n`])
      assert.include(stderr, "no desktop here")
    }))
})

describe("openBrowser", () => {
  const opener = (text: string) =>
    Effect.map(temporaryDirectory, (folder) => {
      const file = join(folder, "xdg-open")
      writeFileSync(file, `#!/bin/sh\n${text}\n`)
      chmodSync(file, 0o755)
      return { folder, env: { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ":0" } }
    })

  const ADDRESS = "http://127.0.0.1:8336/desk/open?link=a&b=c;d"

  it.scopedLive("passes the address on as it is", () =>
    Effect.gen(function*() {
      const { env, folder } = yield* opener("printf %s \"$1\" > \"$(dirname \"$0\")/given\"")
      assert.isUndefined(yield* openBrowser(ADDRESS, { platform: "linux", env }))
      assert.strictEqual(readFileSync(join(folder, "given"), "utf8"), ADDRESS)
    }))

  it.scopedLive("says why none opened", () =>
    Effect.gen(function*() {
      const { env } = yield* opener("exit 3")
      assert.strictEqual(
        yield* openBrowser(ADDRESS, { platform: "linux", env }),
        "xdg-open found no browser (status 3)"
      )
      const none = { platform: "linux", env: { PATH: "/nowhere", DISPLAY: ":0" } } as const
      assert.strictEqual(yield* openBrowser(ADDRESS, none), "xdg-open is not installed")
      assert.include(yield* openBrowser(ADDRESS, { platform: "linux", env: { PATH: "/nowhere" } }), "no desktop here")
      assert.strictEqual(
        yield* openBrowser(ADDRESS, { platform: "darwin", env: { PATH: "/nowhere" } }),
        "open is not installed"
      )
    }))
})
