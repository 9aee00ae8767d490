"""How a browser gets in where a token is asked for."""

import os
import subprocess

from support import BINARY, Case, until


class Login(Case):
    changes = {"admin": {"token": "adm1n-token", "viewToken": "view-token"}}

    def layover_command(self, *words, token="adm1n-token"):
        return subprocess.run(
            [BINARY, *words, "--admin-url", self.layover.url, "--token", token], capture_output=True, text=True, timeout=60,
            env={name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")})

    def setUp(self):
        super().setUp()
        self.driver.delete_all_cookies()
        self.addCleanup(self.driver.delete_all_cookies)

    def park(self):
        for number in range(2):
            self.layover.send(f"{self.dead}/{number}")
        until("parked", lambda: self.layover_command("pending", "--json").stdout.count("\n") == 2)

    def test_login_with_a_token_leads_to_the_page_that_was_asked_for(self):
        self.park()
        self.driver.get(self.layover.url + "?tab=incidents")
        field = self.one("#token")
        field.send_keys("wrong")
        field.submit()
        self.see("#problem", "This is not the token.")
        self.messages()
        field = self.one("#token")
        field.send_keys("adm1n-token")
        field.submit()
        self.ready()
        self.assertIn("tab=incidents", self.driver.current_url)
        self.see(".incident .what", "2 requests are waiting.")
        cookies = self.driver.get_cookies()
        self.assertEqual([(c["name"], c["httpOnly"], c["sameSite"]) for c in cookies], [(f"layover-{self.layover.admin}", True, "Strict")])
        # The event stream has the cookie: a change arrives although nothing is asked for.
        self.driver.get(self.layover.url)
        self.ready()
        self.see_rows(2)
        self.layover.send(f"{self.dead}/more")
        self.see_rows(3)
        self.click("#logout button")
        self.one("#token")

    def test_open_prints_a_link_that_works_once(self):
        self.park()
        link = self.layover_command("open").stdout.strip()
        self.assertTrue(link.startswith(self.layover.url + "login?code="), link)
        self.driver.get(link)
        self.ready()
        self.see_rows(2)
        # Away from the page first: when it is refused, it goes to the login by itself, and that would replace the link's page.
        self.driver.get(self.layover.url + "login")
        self.driver.delete_all_cookies()
        self.driver.get(link)
        self.see("#problem", "The link was used already")

    def test_viewer_sees_all_and_is_offered_no_command(self):
        self.park()
        self.driver.get(self.layover_command("open", token="view-token").stdout.strip())
        self.ready()
        self.see_rows(2)
        self.see(".incident .what", "2 requests are waiting.")
        self.assertEqual(self.all(".incident button, #bulk button, #rows button"), [])
        self.assertFalse(self.one("#mode").is_enabled())
