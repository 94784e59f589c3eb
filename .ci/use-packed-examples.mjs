// Runs the compiled examples in FOLDER/names over an installed daemon, and with a node of their own.
// Usage: use-packed-examples.mjs FOLDER

import assert from "node:assert/strict"
import { spawn, spawnSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { pathToFileURL } from "node:url"
import { freePort, withDaemon } from "./packed-daemon.mjs"

const folder = process.argv[2]
const example = (name) => join(folder, "names", `${name}.js`)

/** Names of the fixture: one in force, one that expired. */
const ACTIVE = "d/prairiefjord2763f65b"
const ADDRESS = "17.144.204.221"
const EXPIRED = "d/indigof328"

/** What runs, so that nothing is left behind. */
const running = new Set()

/** An example while it runs. */
const start = (name, config, ...args) => {
  const env = { ...process.env, NAMES: JSON.stringify(config), PORT: "0" }
  const child = spawn(process.execPath, [example(name), ...args], { env, stdio: ["ignore", "pipe", "pipe"] })
  const one = { child, stdout: "", stderr: "" }
  child.stdout.setEncoding("utf8").on("data", (text) => void (one.stdout += text))
  child.stderr.setEncoding("utf8").on("data", (text) => void (one.stderr += text))
  one.exit = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)))
  one.end = () => {
    child.kill("SIGTERM")
    return one.exit
  }
  /** Waits for a text of its output. */
  one.says = async (pattern) => {
    for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50)) {
      const found = pattern.exec(one.stdout + one.stderr)
      if (found !== null) return found[1] ?? found[0]
      if (child.exitCode !== null) break
    }
    throw new Error(`${name} did not say ${pattern}: ${one.stdout}${one.stderr}`)
  }
  running.add(child)
  void one.exit.then(() => running.delete(child))
  return one
}

const checkResolve = async (config) => {
  const found = start("resolve", config, ACTIVE)
  assert.equal(await found.exit, 0, found.stderr)
  assert.ok(JSON.parse(found.stdout).value.includes(ADDRESS))
  const missing = start("resolve", config, "d/nobody-has-this", EXPIRED)
  assert.equal(await missing.exit, 1, missing.stderr)
  assert.match(missing.stderr, /not found.*\n.*expired/)
}

const checkLightClient = async (config) => {
  const found = start("light-client", config, ACTIVE, EXPIRED)
  assert.equal(await found.exit, 1, found.stderr)
  assert.ok(found.stdout.includes(ADDRESS) && found.stdout.includes("full"), found.stdout)
  assert.match(found.stderr, /expired/)
}

const checkExpress = async (config) => {
  const server = start("express-server", config)
  const port = await server.says(/port: (\d+)/)
  for (const [name, status] of [[ACTIVE, 200], ["d/nobody-has-this", 404], [EXPIRED, 410], ["x".repeat(256), 400]]) {
    const answer = await fetch(`http://127.0.0.1:${port}/resolve/${encodeURIComponent(name)}`)
    assert.equal(answer.status, status, `${name}: ${await answer.text()}`)
  }
  assert.equal(await server.end(), 0, server.stderr)
}

const checkHttpApi = async (config) => {
  const server = start("http-api", config)
  const address = await server.says(/http:\/\/127\.0\.0\.1:\d+/)
  for (const [name, status] of [[ACTIVE, 200], ["d/nobody-has-this", 404], [EXPIRED, 410], ["x".repeat(256), 400]]) {
    const answer = await fetch(`${address}/name?${new URLSearchParams({ name })}`)
    assert.equal(answer.status, status, `${name}: ${await answer.text()}`)
  }
  const { paths } = await (await fetch(`${address}/openapi.json`)).json()
  assert.deepEqual(Object.keys(paths["/name"].get.responses).toSorted(), ["200", "400", "404", "410", "503"])
  assert.equal(await server.end(), 0, server.stderr)
}

const checkRouteHandler = async (config) => {
  process.env.NAMES = JSON.stringify(config)
  const statuses = []
  for (const [version, name] of [[1, ACTIVE], [2, ACTIVE], [1, "d/nobody-has-this"], [2, EXPIRED]]) {
    // Another version is the module once more, as after an edit.
    const { GET } = await import(`${pathToFileURL(example("route-handler"))}?version=${version}`)
    const query = new URLSearchParams({ name })
    statuses.push((await GET(new Request(`http://localhost/api/resolve?${query}`))).status)
  }
  assert.deepEqual(statuses, [200, 200, 404, 410])
  await (await globalThis.namesClient).close()
  delete globalThis.namesClient
}

const startEffectApp = async (config) => {
  const app = start("effect-app", config, ACTIVE, "d/nobody-has-this", EXPIRED)
  await app.says(/watching domains/)
  for (const text of [`${ACTIVE} is at ${ADDRESS}`, "d/nobody-has-this is free", `${EXPIRED} expired`]) {
    assert.ok(app.stdout.includes(text), app.stdout)
  }
  return app
}

/** Registers a name while blocks are mined, and sees another program notice it. */
const checkRegister = async (config, call) => {
  const app = await startEffectApp(config)
  const address = await call("getnewaddress")
  await call("generatetoaddress", 110, address)
  const register = start("register", config, "d/demonstration", "{\"ip\":\"192.0.2.7\"}")
  await register.says(/announced by/)
  while (register.child.exitCode === null) {
    await call("generatetoaddress", 1, address)
    await sleep(200)
  }
  assert.equal(await register.exit, 0, register.stderr)
  assert.match(register.stderr, /until it can be claimed: \d+\n[^]*claimed by [^]*registered in block \d+\n$/)
  await app.says(/d\/demonstration changed in block \d+/)
  assert.equal(await app.end(), 0, app.stderr)
}

/** Follows the names of a daemon from the first block on, until the copy has a name. The stream ends with the daemon. */
const checkReplica = async ({ rpcAddr }) => {
  const { follow } = await import(pathToFileURL(example("replica")))
  const replica = { names: new Map(), cursor: "0" }
  void follow(rpcAddr, replica).catch(() => undefined)
  const [name, part] = [ACTIVE, ADDRESS].map((text) => Buffer.from(text).toString("hex"))
  // The name has other values in earlier blocks, which the copy shows for a moment.
  const isCurrent = () => replica.names.get(name)?.value.includes(part) === true
  for (const end = Date.now() + 60_000; !isCurrent() && Date.now() < end;) await sleep(50)
  assert.ok(isCurrent(), `${replica.names.size} names`)
}

/** Reads all changes of a namespace from the first block on, then again what is behind the last of them. */
const checkChanges = async (config) => {
  const file = join(mkdtempSync(join(tmpdir(), "svcd-changes-")), "cursor")
  writeFileSync(file, "0")
  const first = start("changes", config, file, ACTIVE)
  await first.says(new RegExp(`registered ${ACTIVE}.*${ADDRESS}`))
  assert.equal(await first.end(), 0, first.stderr)
  const cursor = readFileSync(file, "utf8")
  assert.notEqual(cursor, "0")
  const second = start("changes", config, file, ACTIVE)
  await second.says(/going on behind/)
  assert.equal(await second.end(), 0, second.stderr)
  assert.ok(!second.stdout.includes("registered"), second.stdout)
  rmSync(dirname(file), { recursive: true, force: true })
}

/** A node made of its services, which svcd-cli asks, and ends. */
const checkOwnDaemon = async (directory) => {
  const [rpc, metrics] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  const daemon = start("own-daemon", {}, directory, rpc, metrics)
  await daemon.says(/RPC listening/)
  const cli = (...args) => {
    const programs = join(folder, "node_modules", ".bin")
    const { status, stderr, stdout } = spawnSync(join(programs, "svcd-cli"), [
      ...["-rpcaddr", rpc, "-rpcuser", "own", "-rpcpassword", "secret", ...args]
    ], { encoding: "utf8" })
    assert.equal(status, 0, stderr)
    return stdout
  }
  // It listens before its method is there.
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(100)) {
    if ((await fetch(`http://${rpc}/health`).catch(() => undefined))?.status === 200) break
  }
  const { greeting, height } = JSON.parse(cli("greet", "you"))
  assert.equal(greeting, "hello you")
  assert.ok(height > 0, "it has no blocks of the directory")
  assert.match(cli("help", "greet"), /^greet "guest"\n\nGreets/)
  assert.match(
    await (await fetch(`http://${metrics}/metrics`)).text(),
    new RegExp(`^svcd_blockchain_height ${height}$`, "m")
  )
  cli("stop")
  assert.equal(await daemon.exit, 0, daemon.stderr)
}

const CHECKS = {
  changes: checkChanges,
  "effect-app": async (config) => {
    const app = await startEffectApp(config)
    assert.equal(await app.end(), 0, app.stderr)
  },
  "express-server": checkExpress,
  "http-api": checkHttpApi,
  "light-client": checkLightClient,
  resolve: checkResolve,
  "route-handler": checkRouteHandler
}

const datadir = mkdtempSync(join(tmpdir(), "svcd-packed-"))

try {
  const packed = readdirSync(join(folder, "names")).filter((file) => file.endsWith(".ts")).map((file) =>
    basename(file, ".ts")
  )
  assert.deepEqual(
    packed.sort(),
    [...Object.keys(CHECKS), "bit-site", "own-daemon", "register", "replica", "webhook"].sort(),
    "each example has a check"
  )

  // With a node of their own first: what is mined later would let the names expire.
  await withDaemon(join(folder, "node_modules", ".bin"), datadir, () => undefined)
  await checkOwnDaemon(datadir)
  console.log("own-daemon works")
  const nobody = `http://127.0.0.1:${await freePort()}`
  for (const [name, check] of Object.entries(CHECKS)) {
    await check({ network: "regtest", rpcAddr: nobody, dataDir: datadir, maxPeers: 0 })
    console.log(`${name} works embedded`)
  }
  await withDaemon(join(folder, "node_modules", ".bin"), datadir, async ({ address, call }) => {
    const config = { network: "regtest", rpcAddr: `http://${address}` }
    for (const [name, check] of Object.entries(CHECKS)) {
      await check(config)
      console.log(`${name} works over the daemon`)
    }
    await checkReplica(config)
    console.log("replica works over the daemon")
    await checkRegister(config, call)
    console.log("register works over the daemon")
  })
} finally {
  for (const child of running) child.kill("SIGKILL")
  rmSync(datadir, { recursive: true, force: true })
}
