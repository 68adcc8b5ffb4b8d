/*
 * The command palette: every place, by name or by other words for it, saved views of lists, and lists that
 * are searched for what is typed.
 */
import { useHotkeys } from '@mantine/hooks'
import {
  spotlight,
  Spotlight,
  type SpotlightActionData,
  type SpotlightActionGroupData,
} from '@mantine/spotlight'
import { BookmarkIcon, DeviceDesktopIcon, PersonIcon, SearchIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'
import { isUnderDialog } from '../kit/shortcut-scope.ts'
import { useOpenView, useSavedViews } from '../kit/saved-view-query.ts'
import { quoteText } from '../kit/search-text.ts'
import { usePlaces } from './navigation.ts'
import { useIsOpen } from './session.ts'
import { texts } from './texts.ts'

/** Without a blur, which a machine that draws without a graphics card does anew at each blink of the caret. */
const SHADE = { backgroundOpacity: 0.35 } as const

export function Palette() {
  const navigate = useNavigate()
  const places = usePlaces()
  const views = useSavedViews(useIsOpen()({ area: 'Saved views' }))
  const openView = useOpenView()
  const ofPlaces = useMemo(
    () =>
      places.map(({ label, places: own }): SpotlightActionGroupData => ({
        group: label,
        actions: own.map(({ label: name, to, icon: Icon, key, words = '' }) => ({
          id: to,
          label: name,
          keywords: words,
          leftSection: <Icon size={16} />,
          rightSection: key === undefined ? null : <kbd>g {key}</kbd>,
          onClick: () => void navigate({ to }),
        })),
      })),
    [navigate, places],
  )
  const ofViews: SpotlightActionGroupData = {
    group: texts.views,
    actions: views.map((view) => ({
      id: `view ${view.id}`,
      label: view.name,
      description: view.list,
      leftSection: <BookmarkIcon size={16} />,
      onClick: () => openView(view),
    })),
  }
  useHotkeys([['mod + K', openPalette]])
  const groups = views.length === 0 ? ofPlaces : [...ofPlaces, ofViews]
  const open = places.flatMap(({ places: own }) => own.map(({ to }) => to))
  return (
    <Spotlight
      actions={groups}
      overlayProps={SHADE}
      filter={(text) => [
        ...groups.map((group) => narrow(group, text)).filter(({ actions }) => actions.length > 0),
        ...toSearches(text, open, (to, query) => void navigate({ to, search: { query } })),
      ]}
      shortcut={null}
      nothingFound={texts.paletteNothing}
      searchProps={{
        placeholder: texts.palette,
        leftSection: <SearchIcon />,
        'aria-label': texts.palette,
      }}
      scrollable
      maxHeight={420}
    />
  )
}

/** A dialog keeps what it shows or asks: the palette would lead away from it. */
function openPalette(): void {
  if (!isUnderDialog()) spotlight.open()
}

/** The places of a group that the text names, or means by another word. */
function narrow({ group, actions }: SpotlightActionGroupData, text: string) {
  const wanted = text.trim().toLowerCase()
  const fits = ({ label = '', keywords = '' }: SpotlightActionData) =>
    `${label} ${String(keywords)}`.toLowerCase().includes(wanted)
  return { group, actions: actions.filter(fits) }
}

const SEARCHES = [
  { to: '/devices', field: 'name', icon: DeviceDesktopIcon, label: texts.findDevices },
  { to: '/people', field: 'name', icon: PersonIcon, label: texts.findPeople },
  { to: '/signals/find', field: undefined, icon: SearchIcon, label: texts.findEvent },
] as const

/** Lists that can be searched for what is typed, among the places that are open. */
function toSearches(
  text: string,
  open: readonly string[],
  go: (to: (typeof SEARCHES)[number]['to'], query: string) => void,
): SpotlightActionGroupData[] {
  const wanted = text.trim()
  if (wanted === '') return []
  const actions = SEARCHES.filter(({ to }) => open.includes(to)).map(
    ({ to, field, icon: Icon, label }) => ({
      id: `search ${to}`,
      label: label(wanted),
      leftSection: <Icon size={16} />,
      onClick: () => go(to, field === undefined ? wanted : `${field}~${quoteText(wanted)}`),
    }),
  )
  return [{ group: texts.find, actions }]
}
