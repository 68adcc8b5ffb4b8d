/* The tabs of a page. Which one is open stands in the address. */
import { Tabs } from '@mantine/core'
import { useEffect, useRef, type ReactNode } from 'react'
import classes from './page-tabs.module.css'

export interface PageTab {
  /** What stands in the address. */
  readonly id: string
  readonly label: string
  /** Made when the tab is open only. */
  readonly render: () => ReactNode
}

interface PageTabsProps {
  /** What the tabs are of, for those who cannot see it. */
  readonly name: string
  readonly tabs: readonly PageTab[]
  /** From the address; the first tab when it names none. */
  readonly value: string | undefined
  readonly onChange: (id: string) => void
}

export function PageTabs({ name, tabs, value, onChange }: PageTabsProps) {
  const open = tabs.find(({ id }) => id === value) ?? tabs[0]
  const openId = open?.id
  const list = useRef<HTMLDivElement>(null)
  useOpenTabInSight(list, openId)
  if (open === undefined) return null
  return (
    <Tabs
      value={open.id}
      onChange={(next) => onChange(next ?? open.id)}
      keepMounted={false}
      classNames={{
        root: classes.root,
        list: classes.list,
        tab: classes.tab,
        panel: classes.panel,
      }}
    >
      <Tabs.List ref={list} aria-label={name}>
        {tabs.map(({ id, label }) => (
          <Tabs.Tab key={id} value={id}>
            {label}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value={open.id}>{open.render()}</Tabs.Panel>
    </Tabs>
  )
}

/** Where there is not room for all of them, the open one is seen, also when there comes to be less room. */
function useOpenTabInSight(
  list: { readonly current: HTMLElement | null },
  openId: string | undefined,
): void {
  useEffect(() => {
    const row = list.current
    const tab = row?.querySelector<HTMLElement>('[role=tab][aria-selected=true]')
    if (row === null || tab === null || tab === undefined) return undefined
    // Along the row alone: the page stays where its reader has scrolled to.
    const show = () => {
      const [room, own] = [row.getBoundingClientRect(), tab.getBoundingClientRect()]
      row.scrollLeft += own.left + own.width / 2 - (room.left + room.width / 2)
    }
    const observer = new ResizeObserver(show)
    observer.observe(row)
    return () => observer.disconnect()
  }, [list, openId])
}
