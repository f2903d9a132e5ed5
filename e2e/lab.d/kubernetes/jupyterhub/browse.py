"""Logs in to JupyterHub with a browser, as a person does, and runs cells in a new notebook. Prints what the cells print.

usage: browse.py URL ACCOUNT PASSWORD_FILE other OTHER    prints the status of OTHER's server's page
       browse.py URL ACCOUNT PASSWORD_FILE cell CODE      prints the output of the cell
       browse.py URL ACCOUNT PASSWORD_FILE error ''       prints why the login is refused
"""

import sys

from playwright.sync_api import sync_playwright

CHROMIUM = "/usr/lib/chromium/chromium"
OPTIONS = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
# A server starts slowly on two busy processors. Less than the test waits, so that it sees the page.
MILLISECONDS = 90_000


def log_in(page, url, account, password_file):
    page.goto(f"{url}/hub/login")
    page.fill("input[name=username]", account)
    with open(password_file, encoding="utf-8") as file:
        page.fill("input[name=password]", file.read())
    page.click("#login_submit")


def run_cell(page, url, account, code):
    page.wait_for_url(lambda url: "/login" not in url)
    page.goto(f"{url}/hub/spawn/{account}")
    page.wait_for_url(f"**/user/{account}/lab**")
    page.click(".jp-LauncherCard[data-category=Notebook]")
    # until then a cell would not run
    page.locator("#jp-main-statusbar").get_by_text("| Idle").wait_for()
    editor = page.locator(".jp-Notebook .jp-Cell .cm-content").first
    editor.click()
    page.keyboard.insert_text(code + "\nprint('the end')")
    page.keyboard.press("Shift+Enter")
    output = page.locator(".jp-Cell-outputArea .jp-OutputArea-output")
    output.filter(has_text="the end").or_(output.filter(has_text="Error")).first.wait_for()
    # JupyterLab shows what arrives late in an area of its own
    return "\n".join(line for text in output.all_inner_texts() for line in text.splitlines() if line)


def main():
    url, account, password_file, task, argument = sys.argv[1:]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        page = browser.new_page()
        page.set_default_timeout(MILLISECONDS)
        try:
            log_in(page, url, account, password_file)
            if task == "cell":
                print(run_cell(page, url, account, argument))
            elif task == "error":
                print(page.inner_text(".login_error"))
            else:
                page.wait_for_url(lambda url: "/login" not in url)
                print(page.goto(f"{url}/user/{argument}/lab").status)
        except Exception:
            print(page.url, page.inner_text("body", timeout=5_000))
            raise
        finally:
            browser.close()


main()
