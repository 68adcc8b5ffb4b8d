import { useEffect, useState, type RefObject } from 'react'

/* For what is measured in px by a script: everything else is set in rem. */
const USUAL_PX = 16

/** How many times as large as usual the browser sets texts. A least size of texts makes texts larger, but no `rem`. */
export function readTextScale(): number {
  const measured = document.createElement('div')
  measured.style.cssText = 'position: absolute; width: 1rem; visibility: hidden'
  document.body.append(measured)
  const { width } = measured.getBoundingClientRect()
  measured.remove()
  return width / USUAL_PX
}

/** The same, read anew whenever an element whose size is set in rem takes another. */
export function useTextScale(sized: RefObject<Element | null>): number {
  const [scale, setScale] = useState(readTextScale)
  useEffect(() => {
    const observer = new ResizeObserver(() => setScale(readTextScale()))
    if (sized.current !== null) observer.observe(sized.current)
    return () => observer.disconnect()
  }, [sized])
  return scale
}
