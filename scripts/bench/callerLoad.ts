import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

/** Keep-alive connections of a load. */
export const CONNECTIONS = 8

/** Seconds of one round; servers take turns in rounds, so that noise of the machine affects them all. */
const ROUND = 2

/** The answers to a load; times in milliseconds. */
export interface Load {
  readonly requests: number
  readonly perSecond: number
  readonly bytesEach: number
  readonly p50: number
  readonly p99: number
  readonly max: number
  readonly wrong: number
}

/** Sends one body over several connections, in a process of its own, each connection as fast as it is answered. */
export const load = (port: number, body: string, seconds = ROUND): Promise<Load> =>
  new Promise((resolve, reject) => {
    const script = fileURLToPath(new URL("./rpcLoad.js", import.meta.url))
    const args = [script, String(port), String(CONNECTIONS), String(seconds), body]
    execFile(process.execPath, args, (error, stdout) => {
      if (error !== null) return reject(error)
      const result: Load = JSON.parse(stdout)
      if (result.wrong > 0) return reject(new Error(`${result.wrong} requests of ${body.slice(0, 200)} failed`))
      resolve(result)
    })
  })
