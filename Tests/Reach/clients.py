"""The clients of the reach test: how each fetches, what it must have in the end, and what no proxy can do for it.

A script is run by sh(1) in an empty folder, which is its home too. $BASE is `http://host` or `https://host`, $VENV the virtual
environment of the tools from PyPI. It must end with 0 and leave the bytes of the artifact in the file `got` there.
"""

from dataclasses import dataclass, field

OUTAGE, BUSY, BROKEN = "outage", "busy", "broken"
HTTP, TUNNEL, INTERCEPTED = "http", "tunnel", "intercepted"

IN_TUNNEL = "inside the tunnel"
ITSELF = "by itself"


@dataclass
class Client:
    name: str
    script: str
    artifact: str = "file"
    # Programs without which it cannot run.
    needs: tuple = ()
    # (fault, way) -> why this pair cannot survive, instead of the general rule.
    cannot: dict = field(default_factory=dict)
    # Pairs that survive because the client resumes or asks again, and not by Layover.
    itself: tuple = ()
    # Seconds that it may take.
    patience: int = 120
    is_browser: bool = False


def expected(client, fault, way):
    """Why the pair does not survive. None: it must."""
    if (fault, way) in client.cannot:
        return client.cannot[fault, way]
    if way == TUNNEL and fault != OUTAGE and (fault, way) not in client.itself:
        return IN_TUNNEL
    return None


POST = "a POST that was answered or sent may not be sent again"
SMART = {(BUSY, HTTP): POST, (BROKEN, HTTP): POST, (BUSY, INTERCEPTED): POST, (BROKEN, INTERCEPTED): POST}

TUNNELS = "asks for a tunnel to an http origin too"
TUNNELLER = {(BUSY, HTTP): TUNNELS, (BROKEN, HTTP): TUNNELS}

PYTHON_SAVE = "open('got', 'wb').write(body)"


def python(name, script, program="$VENV/bin/python", **options):
    text = "import os\nbase = os.environ['BASE']\n" + script + "\n" + PYTHON_SAVE + "\n"
    return Client(name, f"cat > fetch.py <<'END'\n{text}END\n{program} fetch.py", **options)


def javascript(name, script, program, **options):
    text = script + "\nawait writeFile('got', new Uint8Array(body));\n"
    return Client(name, f"cat > fetch.mjs <<'END'\n{text}END\n{program} fetch.mjs", **options)


FETCH = "import { writeFile } from 'node:fs/promises';\nconst answer = await fetch(process.env.BASE + '/file.bin');\n" \
    "if (!answer.ok) throw new Error(answer.status);\nconst body = await answer.arrayBuffer();"

BROWSER = """
WANTED=$(python3 -c "import sys, zlib; print(zlib.adler32(open('$WWW/file.bin', 'rb').read()))")
"$@" >log 2>&1 &
PID=$!
for try in $(seq 240); do
    SUM=$(python3 $HERE/reported.py $HOST)
    [ -n "$SUM" ] && break
    sleep 0.25
done
kill $PID; wait $PID 2>/dev/null
[ "$SUM" = "$WANTED" ] && cp $WWW/file.bin got || { tail -5 log; echo "reported: $SUM"; exit 1; }
"""

CLIENTS = [
    Client("curl", "curl -sSf -o got $BASE/file.bin"),
    Client("wget", "wget -q -t 1 -O got $BASE/file.bin", needs=("wget",)),
    Client("git (smart)", "git clone -q $BASE/smart/repo.git tree && cp tree/data.bin got", artifact="git", cannot=SMART),
    Client("git (dumb)", "git clone -q $BASE/dumb/repo.git tree && cp tree/data.bin got", artifact="git"),
    Client(
        "pip", "case $BASE in https:*) trust= ;; *) trust=\"--trusted-host $HOST\" ;; esac; $VENV/bin/pip download -q --disable-pip-version-check "
        "--no-cache-dir --no-deps $trust --index-url $BASE/simple reachpkg && unzip -p reachpkg*.whl reachpkg/data.bin > got",
        artifact="wheel", itself=((BUSY, TUNNEL),)),
    Client(
        "uv", "$VENV/bin/uv pip install -q --no-cache --python /usr/bin/python3 --target t --index-url $BASE/simple reachpkg "
        "&& cp t/reachpkg/data.bin got", artifact="wheel",
        itself=((BUSY, TUNNEL), (BROKEN, HTTP), (BROKEN, TUNNEL), (BROKEN, INTERCEPTED))),
    Client(
        "apt", 'mkdir -p s/lists/partial c/archives/partial && echo "deb [trusted=yes] $BASE/apt ./" > list && touch status && '
        "O=\"-qq -o Dir::State=$PWD/s -o Dir::State::status=$PWD/status -o Dir::Cache=$PWD/c -o Dir::Etc::SourceList=$PWD/list "
        "-o Dir::Etc::SourceParts=- -o APT::Sandbox::User=root -o Acquire::Languages=none -o APT::Architecture=amd64\" && "
        "apt-get $O update && apt-get $O download reachpkg && dpkg-deb --fsys-tarfile reachpkg*.deb | tar xO ./usr/share/reachpkg/data.bin > got",
        artifact="deb", itself=((BUSY, TUNNEL), (BROKEN, TUNNEL))),
    Client(
        "npm", "$NODE $NPM pack --silent --registry $BASE/npm/ reachpkg && tar xzOf reachpkg-1.0.0.tgz package/data.bin > got",
        artifact="npm"),
    Client(
        "cargo", "mkdir -p p/src .cargo && touch p/src/lib.rs && printf '[package]\\nname = \"p\"\\nversion = \"1.0.0\"\\n"
        "[dependencies]\\nreachpkg = { version = \"1\", registry = \"reach\" }\\n' > p/Cargo.toml && "
        "printf \"[registries.reach]\\nindex = \\\"sparse+$BASE/cargo/\\\"\\n\" > .cargo/config.toml && cd p && "
        "RUSTC_BOOTSTRAP=1 /usr/bin/cargo -Z sparse-registry fetch -q && cp $HOME/.cargo/registry/src/*/reachpkg-1.0.0/data.bin ../got",
        artifact="crate", needs=("/usr/bin/cargo",), itself=((BROKEN, TUNNEL),)),
    Client(
        "Maven", "printf '<project><modelVersion>4.0.0</modelVersion><parent><groupId>test.reach</groupId><artifactId>parent</artifactId>"
        "<version>1.0</version><relativePath/></parent><artifactId>c</artifactId><repositories><repository><id>reach</id><url>%s/maven</url>"
        "</repository></repositories></project>' $BASE > pom.xml && printf '<settings><mirrors><mirror><id>maven-default-http-blocker</id>"
        "<mirrorOf>none</mirrorOf><url>http://none/</url></mirror></mirrors></settings>' > settings.xml && "
        "mvn -q -B -s settings.xml -Dmaven.repo.local=$PWD/m2 validate && sed 's/.*<!-- \\(.*\\) -->.*/\\1/' "
        "m2/test/reach/parent/1.0/parent-1.0.pom | base64 -d > got", artifact="maven", needs=("mvn",)),
    Client(
        "Java HttpClient", "java -cp $CLASSES Fetch $BASE/file.bin got", needs=("java", "javac")),
    python("Python urllib", "import urllib.request\nbody = urllib.request.urlopen(base + '/file.bin').read()", "/usr/bin/python3"),
    python("requests", "import requests\nanswer = requests.get(base + '/file.bin')\nanswer.raise_for_status()\nbody = answer.content"),
    python("httpx", "import httpx\nanswer = httpx.get(base + '/file.bin', timeout=None)\nanswer.raise_for_status()\nbody = answer.content"),
    python(
        "aiohttp", "import asyncio, aiohttp\nasync def main():\n    async with aiohttp.ClientSession(trust_env=True) as session:\n"
        "        async with session.get(base + '/file.bin') as answer:\n            answer.raise_for_status()\n"
        "            return await answer.read()\nbody = asyncio.run(main())"),
    python(
        "boto3", "import boto3\nfrom botocore.config import Config\nclient = boto3.client('s3', endpoint_url=base, region_name='x', "
        "aws_access_key_id='a', aws_secret_access_key='b', config=Config(s3={'addressing_style': 'path'}))\n"
        "body = client.get_object(Bucket='bucket', Key='file.bin')['Body'].read()", itself=((BUSY, TUNNEL),)),
    Client(
        "aws CLI", "AWS_ACCESS_KEY_ID=a AWS_SECRET_ACCESS_KEY=b AWS_DEFAULT_REGION=x $VENV/bin/aws --endpoint-url $BASE s3 cp --no-progress "
        "s3://bucket/file.bin got", itself=((BUSY, TUNNEL), (BROKEN, TUNNEL))),
    javascript("Node fetch", FETCH, "$NODE", cannot=TUNNELLER),
    javascript(
        "undici", "import { createRequire } from 'node:module';\nimport { writeFile } from 'node:fs/promises';\n"
        "const { request, ProxyAgent } = createRequire('/usr/share/nodejs/reach.js')('/usr/share/nodejs/undici');\n"
        "const dispatcher = new ProxyAgent(process.env.http_proxy);\n"
        "const answer = await request(process.env.BASE + '/file.bin', { dispatcher });\n"
        "if (answer.statusCode != 200) throw new Error(answer.statusCode);\nconst body = await answer.body.arrayBuffer();", "NODE_PATH=/usr/share/nodejs node",
        needs=("node",), cannot=TUNNELLER),
    Client(
        "Deno", "cat > fetch.ts <<'END'\nconst answer = await fetch(Deno.env.get('BASE') + '/file.bin');\n"
        "if (!answer.ok) throw new Error(String(answer.status));\nawait Deno.writeFile('got', new Uint8Array(await answer.arrayBuffer()));\n"
        "END\n$VENV/bin/deno run -q -A fetch.ts"),
    Client(
        "Perl LWP", "perl -MLWP::UserAgent -e 'my $ua = LWP::UserAgent->new(env_proxy => 1); my $r = $ua->get(\"$ENV{BASE}/file.bin\"); "
        "die $r->status_line unless $r->is_success; die \"broken\" if $r->header(\"Client-Aborted\") || "
        "length($r->content) != $r->header(\"Content-Length\"); open(F, \">\", \"got\"); print F $r->content'"),
    Client(
        "Ruby net/http", "ruby -rnet/http -e 'answer = Net::HTTP.get_response(URI(ENV[\"BASE\"] + \"/file.bin\")); answer.value; "
        "File.binwrite(\"got\", answer.body)'", needs=("ruby",), itself=((BROKEN, TUNNEL),)),
    Client(
        "PHP curl", "php -r '$c = curl_init(getenv(\"BASE\") . \"/file.bin\"); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); "
        "curl_setopt($c, CURLOPT_FAILONERROR, true); $b = curl_exec($c); if ($b === false) exit(1); file_put_contents(\"got\", $b);'",
        needs=("php",)),
    Client("Go net/http", "$CLASSES/fetch $BASE/file.bin got", needs=("go",)),
    Client(
        "go modules", "GOPATH=$PWD/g GOCACHE=$PWD/c GOPROXY=$BASE/go GONOSUMDB=* GONOSUMCHECK=1 GOFLAGS=-modcacherw GOSUMDB=off GOTOOLCHAIN=local "
        "go mod download -x reach.test/module@v1.0.0 && cp g/pkg/mod/reach.test/module@v1.0.0/data.bin got", artifact="go", needs=("go",)),
    Client(
        "Chromium", "set -- chromium --headless=new --no-sandbox --disable-gpu --no-first-run --user-data-dir=$PWD/profile $BASE/page.html\n"
        + BROWSER, needs=("chromium",), is_browser=True),
    Client(
        "Firefox", "mkdir profile && cp $HERE/firefox.js profile/user.js && $HERE/firefox-trust.sh profile\n"
        "set -- firefox-esr --headless --no-remote --profile $PWD/profile $BASE/page.html\n" + BROWSER, needs=("firefox-esr",), is_browser=True),
]
