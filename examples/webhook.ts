/**
 * A receiver of webhooks that accepts only what the node signed, and each message once:
 *
 *   WEBHOOK_SECRET=whsec_… node build/examples/webhook.js 8080
 */

import { createHmac, timingSafeEqual } from "node:crypto"
import { createServer } from "node:http"

const key = Buffer.from((process.env["WEBHOOK_SECRET"] ?? "").replace("whsec_", ""), "base64")
/** Keep it where you keep what the messages change: the node sends a message again until it is answered with 2xx. */
const seen = new Set<string>()

const server = createServer(async (request, response) => {
  let body = ""
  for await (const text of request.setEncoding("utf8")) body += text
  const header = (name: string): string => String(request.headers[`webhook-${name}`])
  const expected = createHmac("sha256", key).update(`${header("id")}.${header("timestamp")}.${body}`).digest("base64")
  const [given, right] = [Buffer.from(header("signature")), Buffer.from(`v1,${expected}`)]
  const isFresh = Math.abs(Date.now() / 1000 - Number(header("timestamp"))) < 300
  if (!isFresh || given.length !== right.length || !timingSafeEqual(given, right)) return response.writeHead(401).end()
  if (!seen.has(header("id"))) {
    const { events = [], height, type } = JSON.parse(body)
    console.log(`${type} ${height ?? ""}: ${events.length} events`)
    seen.add(header("id"))
  }
  return response.writeHead(204).end()
})
server.listen(Number(process.argv[2] ?? 8080), "127.0.0.1", () => console.log("listening on", server.address()))
