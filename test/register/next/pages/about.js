// A page that is made when the application is built.

import { createElement } from 'react'

export default function About() {
  return createElement('p', null, 'About')
}
