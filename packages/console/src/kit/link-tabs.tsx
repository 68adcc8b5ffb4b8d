/* Lists that belong together, each a page of its own: looks like tabs, and is links. */
import { Link } from '@tanstack/react-router'
import classes from './link-tabs.module.css'

interface LinkTabsProps {
  /** What the pages have in common. */
  readonly label: string
  readonly tabs: readonly { readonly label: string; readonly to: string }[]
  /** The path of the present page. */
  readonly current: string
}

export function LinkTabs({ label, tabs, current }: LinkTabsProps) {
  return (
    <nav className={classes.tabs} aria-label={label}>
      {tabs.map((tab) => (
        <Link
          key={tab.to}
          to={tab.to}
          className={classes.tab}
          // The router lights every page above the present one; only the page itself is meant.
          activeOptions={{ exact: true }}
          aria-current={tab.to === current ? 'page' : undefined}
        >
          {tab.label}
        </Link>
      ))}
    </nav>
  )
}
