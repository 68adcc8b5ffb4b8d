/** Reads a body until the signal is aborted: then nothing more is of interest, and the sender is let go of. */
function getReader(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): ReadableStreamDefaultReader<Uint8Array> {
  const reader = body.getReader()
  const cancel = () => void reader.cancel().catch(() => undefined)
  signal?.addEventListener('abort', cancel, { once: true })
  if (signal?.aborted === true) cancel()
  return reader
}

/**
 * Reads a whole body; answers undefined as soon as it is larger than the cap, and stops reading.
 * An absent body is empty. A signal has to be one of this body alone.
 */
export async function readCappedBody(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
  signal?: AbortSignal,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  if (body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  const reader = getReader(body, signal)
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    length += value.byteLength
    if (length > bytesMax) {
      // The rest is of no interest, and neither is whether the sender minds.
      reader.cancel().catch(() => undefined)
      return undefined
    }
    chunks.push(value)
  }
  const whole = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}

/**
 * Reads the beginning of a body as text, for error reports; never rejects. A signal has to be one of this body alone.
 */
export async function readBodyStart(
  body: ReadableStream<Uint8Array> | null,
  bytesMax: number,
  signal?: AbortSignal,
): Promise<string> {
  if (body === null) return ''
  const decoder = new TextDecoder()
  const reader = getReader(body, signal)
  let text = ''
  let remaining = bytesMax
  try {
    while (remaining > 0) {
      const { done, value } = await reader.read()
      if (done) return text + decoder.decode()
      text += decoder.decode(value.subarray(0, remaining), { stream: true })
      remaining -= value.byteLength
    }
    // The rest is of no interest, and neither is whether the sender minds.
    reader.cancel().catch(() => undefined)
    return text
  } catch {
    return text
  }
}

/** Decodes UTF-8 strictly; answers undefined for anything else. */
export function decodeUtf8(bytes: Uint8Array<ArrayBuffer>): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Parses JSON; answers undefined for anything that is not JSON. */
export function parseJson(text: string | undefined): unknown {
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
