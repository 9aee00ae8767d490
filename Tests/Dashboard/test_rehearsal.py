"""An outage that is only played is shown as one."""

from support import Case, until


class Rehearsal(Case):
    def test_rehearsal_has_a_loud_banner_and_is_stopped_there(self):
        origin = self.origin().start()
        self.open()
        self.layover.call("POST", "/v1/rehearsals", {"host": "127.0.0.1", "fault": "refuse", "for": "10m"})
        self.see(".rehearsal p", "Rehearsal: 127.0.0.1 refuses connections, played by Layover until ")
        self.layover.send(f"http://127.0.0.1:{origin.port}/")
        self.see_rows(1)
        self.assertEqual(origin.requests, [])
        self.driver.refresh()
        self.ready()
        self.click(".rehearsal [data-verb=rehearsal-stop]")
        until("the banner goes", lambda: not self.all(".rehearsal"))
        # What waited goes when the canary goes.
        until("it is sent", lambda: len(origin.requests) == 1)
