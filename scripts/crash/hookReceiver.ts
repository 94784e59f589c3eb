import { createServer, type Server } from "node:http"
import { HookMessages, type HookMessagesOptions } from "./hookMessages.ts"
import { freePort } from "./workplace.ts"

/** A real HTTP server that receives a webhook of every kind of event, and checks each message. */

/** What it does with a message, besides checking it. */
export type Behaviour = "accepts" | "takes it, and answers 500" | "takes it, and hangs up" | "answers 500"

export interface HookReceiverOptions extends HookMessagesOptions {
  readonly behaves: () => Behaviour
  /** Milliseconds before the answer. */
  readonly delay: () => number
}

export class HookReceiver {
  readonly messages: HookMessages
  private readonly server: Server
  port = 0

  constructor(options: HookReceiverOptions) {
    this.messages = new HookMessages(options)
    this.server = createServer((request, response) => {
      const pieces: Array<Buffer> = []
      request.on("data", (piece: Buffer) => pieces.push(piece))
      request.on("end", () => {
        const behaviour = options.behaves()
        options.count(`receiver ${behaviour}`)
        const header = (name: string): string => String(request.headers[`webhook-${name}`])
        if (behaviour !== "answers 500") {
          this.messages.take(Buffer.concat(pieces).toString("utf8"), {
            id: header("id"),
            timestamp: header("timestamp"),
            signature: header("signature")
          })
        }
        setTimeout(() => {
          if (behaviour === "takes it, and hangs up") response.destroy()
          else response.writeHead(behaviour === "accepts" ? 204 : 500).end()
        }, options.delay())
      })
    })
  }

  async listen(): Promise<void> {
    this.port = await freePort()
    await new Promise<void>((resolve) => this.server.listen(this.port, "127.0.0.1", () => resolve()))
  }

  close(): void {
    this.server.closeAllConnections()
    this.server.close()
  }
}
