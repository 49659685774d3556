#!/usr/bin/env python3
"""Checks a file of `halogen run --events`: valid JSON, the events of every request in order, an out for every in.
usage: events.py FILE"""
import collections
import json
import sys

STATIONS = ["i915_request_queue", "i915_request_add", "i915_request_in", "i915_request_out", "dma_fence_signaled",
            "i915_request_retire"]


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    stories = collections.defaultdict(list)
    named = {(event["pid"], event["tid"]) for event in events if event["ph"] == "M"}
    for event in events:
        if (event["pid"], event["tid"]) not in named:
            sys.exit(f"a track without a name: {event}")
        arguments = event["args"]
        if event["ph"] == "i" and "seqno" in arguments:
            context = arguments["ctx"] if "ctx" in arguments else arguments["context"]
            stories[event["pid"], context, arguments["seqno"]].append(event["name"])
    for request, story in stories.items():
        inside = False
        for name in story:
            if name == "i915_request_in":
                if inside:
                    sys.exit(f"{request}: in twice")
                inside = True
            elif name == "i915_request_out":
                if not inside:
                    sys.exit(f"{request}: out without in")
                inside = False
        once = [name for index, name in enumerate(story) if name not in story[index + 1:]]
        if once != [name for name in STATIONS if name in once] or inside:
            sys.exit(f"{request}: {story}")
        if story[-1] != STATIONS[-1] and story[-1] != STATIONS[1]:
            sys.exit(f"{request} is not retired: {story}")
    if not stories:
        sys.exit("no request at all")
    print(f"{len(events)} events, {len(stories)} requests, {len({event['pid'] for event in events})} processes")


main()
