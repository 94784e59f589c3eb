import { channel } from "node:diagnostics_channel"

/** From the program to the file that loads it, which is another bundle: the node has started. */
const started = channel("svcd.started")

export const tellStarted = (): void => started.publish(undefined)

export const onStarted = (listener: () => void): void => {
  const once = (): void => {
    started.unsubscribe(once)
    listener()
  }
  started.subscribe(once)
}
