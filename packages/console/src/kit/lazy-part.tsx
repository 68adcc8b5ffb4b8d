/*
 * Parts of the console that come when they are first shown. One that does not come says so in its place, and may come
 * later: what stands around it stays.
 */
import { use, useSyncExternalStore, type ComponentType, type ReactNode } from 'react'
import { findServedEntry, MissingPage, MissingPart, type MissingProps } from './missing-part.tsx'

type PropsOf<Part> = Part extends (props: infer Props extends object) => ReactNode ? Props : object

/** A part, and how it is brought before it is shown. */
interface LazyPart<Props> {
  (props: Props): ReactNode
  readonly preload: () => Promise<void>
}

/**
 * A component of another script. It suspends while that is loaded.
 *
 * @param Missing stands in its place, with its properties, while it cannot be loaded
 */
export function lazyPart<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
  Missing: ComponentType<PropsOf<Module[Name]> & MissingProps> = MissingPart,
): LazyPart<PropsOf<Module[Name]>> {
  return toLazy(async () => (await load())[name] as ComponentType<PropsOf<Module[Name]>>, Missing)
}

/** A page of another script, without properties. Its type must not depend on the page, which knows the routes. */
export function lazyPage<Module, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name,
): LazyPart<object> {
  return toLazy(async () => (await load())[name] as ComponentType, MissingPage)
}

function toLazy<Props extends object>(
  load: () => Promise<ComponentType<Props>>,
  Missing: ComponentType<Props & MissingProps>,
): LazyPart<Props> {
  let Part: ComponentType<Props> | undefined
  let isMissing = false
  let underWay: Promise<void> | undefined
  const listeners = new Set<() => void>()
  const bring = async () => {
    try {
      // Without a network it is not even tried: browsers keep in mind that a script could not be loaded.
      isMissing = !navigator.onLine && (await findServedEntry()) === undefined
      if (!isMissing) Part = await load()
    } catch {
      isMissing = true
    }
    underWay = undefined
    for (const tell of listeners) tell()
  }
  const preload = () => (Part === undefined ? (underWay ??= bring()) : Promise.resolve())
  const retry = async () => {
    await preload()
    return Part !== undefined
  }
  const listen = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  function Lazy(props: Props) {
    const Shown = useSyncExternalStore(listen, () => Part)
    if (Shown !== undefined) return <Shown {...props} />
    if (isMissing) return <Missing {...props} onRetry={retry} />
    use(preload())
    return null
  }
  return Object.assign(Lazy, { preload })
}
