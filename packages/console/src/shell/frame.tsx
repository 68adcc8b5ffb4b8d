/* The frame of the console: the navigation at the left, the page at the right, the palette over both. */
import { ActionIcon, Drawer, Tooltip, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { spotlight } from '@mantine/spotlight'
import { MoonIcon, SearchIcon, SunIcon, ThreeBarsIcon } from '@primer/octicons-react'
import { Link, useRouterState } from '@tanstack/react-router'
import { useEffect, useRef, useState, type ReactNode } from 'react'
import { AccountMenu } from './account-menu.tsx'
import classes from './frame.module.css'
import { LiveMark } from './live.tsx'
import { nameShortcut } from '../kit/shortcut.ts'
import { Closed } from '../kit/states.tsx'
import { useIsClosed, usePlaces } from './navigation.ts'
import { Palette } from './palette.tsx'
import { texts } from './texts.ts'
import { useGoToKeys } from './use-go-to-keys.ts'
import { useMenuFocus } from './use-menu-focus.ts'

export function Frame({ children }: { readonly children: ReactNode }) {
  const [isOpen, setOpen] = useState(false)
  const path = useRouterState({ select: ({ location }) => location.pathname })
  // Until the next page is there the one before is what would be drawn.
  const drawn = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const isClosed = useIsClosed(path, drawn ?? path)
  useEffect(() => setOpen(false), [path])
  useFocusOnContent()
  useMenuFocus()
  useGoToKeys()
  return (
    <div className={classes.frame}>
      <a href="#content" className={classes.skip}>
        {texts.skip}
      </a>
      <aside className={classes.side}>
        <Navigation path={path} />
      </aside>
      <div className={classes.topbar}>
        <ActionIcon
          aria-label={texts.openNavigation}
          onClick={() => setOpen(true)}
          className={classes.onInk}
        >
          <ThreeBarsIcon />
        </ActionIcon>
        <Brand />
      </div>
      <Drawer
        opened={isOpen}
        onClose={() => setOpen(false)}
        size={264}
        withCloseButton={false}
        padding={0}
        title={texts.product}
        classNames={{
          content: classes.drawer,
          body: classes.drawerBody,
          header: classes.drawerTitle,
        }}
      >
        <Navigation path={path} />
      </Drawer>
      <main className={classes.main} id="content" tabIndex={-1}>
        {isClosed ? <Closed /> : children}
      </main>
      <Palette />
    </div>
  )
}

/** Who goes on by the keyboard begins at the page that has opened, unless something in it has the focus. */
function useFocusOnContent(): void {
  // Where one is when the page has been drawn, not while it is loaded.
  const path = useRouterState({ select: ({ resolvedLocation }) => resolvedLocation?.pathname })
  const before = useRef(path)
  useEffect(() => {
    const isFirst = before.current === undefined
    if (before.current === path) return
    before.current = path
    if (isFirst) return
    const content = document.getElementById('content')
    if (content?.contains(document.activeElement) === false) content.focus({ preventScroll: true })
  }, [path])
}

function Brand() {
  return (
    <Link to="/" className={classes.brand}>
      <img src="/console/heliograph.svg" alt="" />
      {texts.product}
    </Link>
  )
}

function Navigation({ path }: { readonly path: string }) {
  const groups = usePlaces()
  const own = groups.flatMap(({ places }) => places.map(({ to }) => to))
  return (
    <div className={classes.navigation}>
      <Brand />
      <UnstyledButton className={classes.search} onClick={() => spotlight.open()}>
        <SearchIcon size={14} />
        <span>{texts.palette}</span>
        <kbd>{nameShortcut('K')}</kbd>
      </UnstyledButton>
      <nav aria-label={texts.navigation}>
        {groups.map(({ label, places }) => (
          <div key={label} className={classes.group}>
            {places.length > 1 ? <div className={classes.groupLabel}>{label}</div> : null}
            {places.map(({ label: name, to, icon: Icon }) => (
              <Link
                key={to}
                to={to}
                className={classes.link}
                // The router lights every place above the page; only the nearest one is meant.
                activeOptions={{ exact: true }}
                aria-current={isAt(path, to, own) ? 'page' : undefined}
              >
                <Icon size={16} />
                {name}
              </Link>
            ))}
          </div>
        ))}
      </nav>
      <div className={classes.foot}>
        <AccountMenu />
        <LiveMark />
        <ThemeButton />
      </div>
    </div>
  )
}

/** A place is lit on its own page and on those below it, but for pages that are places themselves. */
function isAt(path: string, to: string, places: readonly string[]): boolean {
  if (path === to) return true
  if (to === '/') return false
  const isBelow = path.startsWith(`${to}/`)
  return isBelow && !places.some((other) => other.length > to.length && isBelowOf(path, other))
}

function isBelowOf(path: string, to: string): boolean {
  return path === to || path.startsWith(`${to}/`)
}

function ThemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const isDark =
    colorScheme === 'dark' ||
    (colorScheme === 'auto' && globalThis.matchMedia('(prefers-color-scheme: dark)').matches)
  return (
    <Tooltip label={texts.theme}>
      <ActionIcon
        aria-label={texts.theme}
        className={classes.onInk}
        onClick={() => setColorScheme(isDark ? 'light' : 'dark')}
      >
        {isDark ? <SunIcon /> : <MoonIcon />}
      </ActionIcon>
    </Tooltip>
  )
}
