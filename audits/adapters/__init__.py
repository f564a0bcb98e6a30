"""Other libraries' mechanisms behind our ``draw``; each adapter imports its library only when it draws."""
