// What every page of the folder app/ is in.

import { createElement } from 'react'

export default function Layout({ children }) {
  return createElement('html', null, createElement('body', null, children))
}
