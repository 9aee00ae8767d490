/// What `GET /` on the proxy port says to somebody who opens it in a browser.
enum HelpPage {
    static let response = OwnResponse(
        status: 200,
        fields: [
            ("Content-Type", "text/plain; charset=utf-8"), ("Content-Security-Policy", "sandbox"),
            ("X-Content-Type-Options", "nosniff"),
        ],
        body: """
            This is Layover, a local HTTP proxy that waits out the trouble.

            Point an application at it:   export http_proxy=http://<this address>
            See what waits:               layover pending
            Send it now, or give it up:   layover retry ID   layover cancel ID

            """)
}
