import { useEffect } from 'react'

const MENU = '[role=menu]'

/**
 * Gives the focus from an item of a menu that is chosen back to where it was before the menu. A dialog that the item
 * opens returns it there once it is closed: the item itself is gone by then.
 */
export function useMenuFocus(): void {
  useEffect(() => {
    let before: HTMLElement | undefined
    const note = ({ target }: FocusEvent) => {
      if (target instanceof HTMLElement && target.closest(MENU) === null) before = target
    }
    const give = ({ target }: MouseEvent) => {
      const item = target instanceof Element ? target.closest('[role=menuitem]') : null
      if (item?.closest(MENU)) before?.focus({ preventScroll: true })
    }
    document.addEventListener('focusin', note)
    document.addEventListener('click', give, { capture: true })
    return () => {
      document.removeEventListener('focusin', note)
      document.removeEventListener('click', give, { capture: true })
    }
  }, [])
}
