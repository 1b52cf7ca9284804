cp -R "$REPOSITORY/examples/storefront/." .
rm -rf .edgewise
export STOREFRONT_SIGNING_KEY=3fz8Qk2vW7xL0pTn STOREFRONT_ORIGIN_TOKEN=u9Rb4Hc6Yd1Zm5Je
