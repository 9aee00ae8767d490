/// What `GET /` on the proxy port shows in a browser.
enum HelpPage {
    static let response = OwnResponse(
        status: 200,
        fields: [
            ("Content-Type", "text/plain; charset=utf-8"), ("Content-Security-Policy", "sandbox"),
            ("X-Content-Type-Options", "nosniff"),
        ],
        body: """
            This is Layover, a local HTTP proxy that holds requests while the network or a server is down.

            Use it in a program:      export http_proxy=http://<this address>
            List waiting requests:    layover pending
            Send or cancel one now:   layover retry ID   layover cancel ID

            """)
}
